import type { E2tMessagesTakenIn, KeepAliveRequestSent } from '../../schemas/keep-alive/journal-events.js'
import { changeRic, deadlineId, ricOf } from './context.js'
import type { Context } from './context.js'
import { kill } from './kill.js'
import { requestKeepAlive } from './outputs.js'
import type { KeepAliveSettings } from './settings.js'
import { e2tInstances, keyOf, rics } from './tables.js'
import type { RicRow } from './tables.js'

/** An ingest that lags by more ticks than this makes nobody silent until it has caught up. */
const REMEMBERED_REQUESTS = 64

/** Starts a RIC's ticks where they do not run: it has its first instance. */
export function startTicks(context: Context, ric: string): void {
  if (ricOf(context, ric).tickDue === 0) changeRic(context, ric, { tickDue: armNext(context, ric) })
}

/**
 * Broadcasts a request and asks how far answers are taken in; whoever is silent is found when that is known. Ticks of all
 * RICs fall on the same multiples of the delay, so that one journal record carries them. (keep-alive, section 6)
 */
export function tickDue(ric: string, context: Context): void {
  const { addresses, tick } = ricOf(context, ric)
  if (addresses.length === 0) {
    changeRic(context, ric, { tickDue: 0 })
    return
  }
  const sent: KeepAliveRequestSent = { ric, tick: tick + 1, askedAt: context.time, epoch: context.epoch }
  requestKeepAlive(context, { ric }, { type: 'KeepAliveRequestSent', data: sent })
  context.askIntake()
  changeRic(context, ric, { tick: tick + 1, tickDue: armNext(context, ric) })
  context.count('ticks')
}

/**
 * A broadcast is really out. Silence counts afresh from the first of a term, and from one that comes too long after the last:
 * the manager itself had stalled.
 */
export function requestSent({ ric, tick, askedAt, epoch }: KeepAliveRequestSent, context: Context): void {
  const row = ricOf(context, ric)
  if (epoch !== context.epoch || tick <= row.sentTick) return
  const { settings, time } = context
  const sinceLastMs = time - (row.requests.at(-1)?.sentAt ?? 0)
  const isNewTerm = row.sentEpoch !== epoch
  const isFresh = isNewTerm || sinceLastMs > 2 * settings.keepAliveDelayMs
  if (isFresh) {
    context.count('fresh_starts', isNewTerm ? 'term' : 'gap')
    context.because(
      isNewTerm ? 'first request of a term: silence counts from it' : 'the manager stalled: silence counts afresh',
      {
        epoch,
        sinceLastMs,
      },
    )
  }
  changeRic(context, ric, {
    sentEpoch: epoch,
    sentTick: tick,
    freshAt: isFresh ? time : row.freshAt,
    requests: [...(isFresh ? [] : row.requests), { askedAt, sentAt: time }].slice(-REMEMBERED_REQUESTS),
  })
}

/** All answers up to `asOf` are here: who has been silent by then is killed. */
export function messagesTakenIn({ asOf }: E2tMessagesTakenIn, context: Context): void {
  for (const [ric, row] of context.resident(rics)) {
    for (const address of silentInstances(context, ric, row, asOf)) kill(context, ric, address)
  }
}

/**
 * Instances without an answer for longer than the time-out, to whom enough requests were sent meanwhile. A request
 * counts when it was sent in this term, after the answer and no later than `asOf`, for certain on both sides.
 */
function silentInstances(context: Context, ric: string, row: RicRow, asOf: number): readonly string[] {
  const { settings } = context
  if (row.sentEpoch !== context.epoch) return []
  const sent = row.requests.filter(({ sentAt }) => sentAt <= asOf)
  const nthLast = sent.at(-requestsOfSilence(settings))?.askedAt
  if (nthLast === undefined) return []
  return row.addresses.filter((address) => {
    const instance = context.get(e2tInstances, keyOf(ric, address))
    if (instance?.state !== 'ACTIVE') return false
    const from = Math.max(instance.answeredAt, instance.registeredAt, row.freshAt)
    const isSilent = asOf - from > settings.keepAliveResponseTimeoutMs && nthLast > from
    const compared = { from, asOf, timeoutMs: settings.keepAliveResponseTimeoutMs, askedAt: nthLast }
    if (isSilent) context.because(`instance ${address}: silent for longer than the time-out`, compared)
    return isSilent
  })
}

/** How many requests must have gone unanswered. */
function requestsOfSilence({ keepAliveResponseTimeoutMs, keepAliveDelayMs }: KeepAliveSettings): number {
  return Math.ceil(keepAliveResponseTimeoutMs / keepAliveDelayMs)
}

/** Answers when it is due. */
function armNext(context: Context, ric: string): number {
  const { keepAliveDelayMs } = context.settings
  const due = (Math.floor(context.time / keepAliveDelayMs) + 1) * keepAliveDelayMs
  context.arm(due, deadlineId('tick', ric))
  return due
}
