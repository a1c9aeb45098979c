import type { Effector } from '../topology/processor.js'

/** An Alertmanager that takes every alarm. */
export const alarmsTaken: Effector = {
  kind: 'alertmanager-post',
  deadlineMs: 5000,
  perform: ({ target }) =>
    Promise.resolve({ type: 'AlarmPosted', data: { alarm: target, posted: true, reason: 'answered 200' } }),
}
