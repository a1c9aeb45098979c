import { setTimeout as pause } from 'node:timers/promises'
import { ensureError } from '../../common/errors.js'

export interface SendingAtRate {
  readonly perSecond: number
  /** Sends the next one; what it answers, and that it was, is not held: it would be memory that the service is charged with. */
  readonly send: (number: number) => Promise<unknown>
  /** So many are sent, or until this says so. */
  readonly isOver: (sent: number) => boolean
  /** Between two looks at what is due; default: 1 ms. */
  readonly between?: () => Promise<unknown>
}

/** Sends at a rate. Answers how many a second were acknowledged, once all are; rejects when one is refused. */
export async function sendAtRate({
  perSecond,
  send,
  isOver,
  between = () => pause(1),
}: SendingAtRate): Promise<number> {
  const started = performance.now()
  let sent = 0
  let acknowledged = 0
  let failure: Error | undefined
  const acknowledge = (): void => {
    acknowledged++
  }
  const fail = (thrown: unknown): void => {
    failure ??= ensureError(thrown)
  }
  while (!isOver(sent) || acknowledged < sent) {
    if (failure !== undefined) throw failure
    const due = Math.floor(((performance.now() - started) * perSecond) / 1000)
    while (sent < due && !isOver(sent)) send(sent++).then(acknowledge, fail)
    await between()
  }
  return (acknowledged / (performance.now() - started)) * 1000
}
