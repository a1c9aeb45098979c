import RequestQueue from 'kafkajs/src/network/requestQueue/index.js'
import t from 'tap'
import { stopIdleTimers } from './idle-timer.js'

t.test('ME-08 a connection on which nothing waits arms no timer', async (t) => {
  stopIdleTimers()
  const queue = Object.assign(Object.create(RequestQueue.prototype) as RequestQueue, {
    pending: [] as unknown[],
    throttledUntil: -1,
    throttleCheckTimeoutId: null as NodeJS.Timeout | null,
  })
  queue.scheduleCheckPendingRequests()
  t.equal(queue.throttleCheckTimeoutId, null)
  queue.pending.push('a request that waits')
  queue.scheduleCheckPendingRequests()
  t.not(queue.throttleCheckTimeoutId, null)
  clearTimeout(queue.throttleCheckTimeoutId ?? undefined)
})
