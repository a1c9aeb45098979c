import RequestQueue from 'kafkajs/src/network/requestQueue/index.js'

const { prototype } = RequestQueue
const schedule = prototype.scheduleCheckPendingRequests

/**
 * A connection of kafkajs 2.2.4 that was throttled never, or long ago, arms a timer with a negative delay after each
 * answer, and again when that fires: some 900 wake-ups a second. Nothing needs the timer while no request waits, and one
 * that has to wait asks for it itself.
 */
export function stopIdleTimers(): void {
  prototype.scheduleCheckPendingRequests = function (this: RequestQueue): void {
    if (this.pending.length > 0) schedule.call(this)
  }
}
