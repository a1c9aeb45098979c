/** What is used of kafkajs 2.2.4 beside its published types. */
declare module 'kafkajs/src/network/requestQueue/index.js' {
  export default class RequestQueue {
    readonly pending: readonly unknown[]
    scheduleCheckPendingRequests: (this: RequestQueue) => void
  }
}
