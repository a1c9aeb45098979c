import { HEARTBEAT_TYPES } from '../../schemas/trust-level/heartbeat-schema.js'
import type { HeartbeatReported, TrustLevel } from '../../schemas/trust-level/journal-events.js'
import type { Reads } from '../../topology/processor.js'
import type { Context } from './context.js'
import { deadlineId, rearm } from './deadlines.js'
import type { DeadlineSubject } from './deadlines.js'
import type { TrustLevelErrorCode } from './errors.js'
import { countedOwnLevel, effectiveLevel } from './levels.js'
import { announce } from './notices.js'
import { NEVER, plugins, trust } from './tables.js'
import type { TrustRow } from './tables.js'

/** 2000-01-01T00:00:00Z: nothing before it is a time of a report. */
const YEAR_2000_MS = 946_684_800_000

const UNREGISTERED: TrustLevelErrorCode = 'UNREGISTERED_CM_HANDLE'

const KNOWN_TYPES: ReadonlySet<string> = new Set(HEARTBEAT_TYPES)

export function readsOfHeartbeat({ cmHandle }: HeartbeatReported): Reads {
  return { rows: [{ table: trust, key: cmHandle }] }
}

/**
 * A report of a handle's own level. Reports on one handle are ordered by their event time, equal ones by the journal; an
 * older one changes nothing. On a handle that is not registered it is kept as a pending level. (trust levels, section 0)
 */
export function heartbeatReported(report: HeartbeatReported, context: Context): void {
  const { cmHandle, trustLevel, eventType } = report
  context.count('heartbeats', KNOWN_TYPES.has(eventType) ? eventType : 'other')
  const eventTime = eventTimeOf(report, context)
  const row = context.get(trust, cmHandle)
  if (row === undefined || row.status !== 'REGISTERED') {
    unregistered(cmHandle, trustLevel, eventTime, row, context)
    return
  }
  if (eventTime < row.eventTime) {
    context.count('late_heartbeats')
    context.because('older than what is known: changes nothing', { eventTime, known: row.eventTime })
    return
  }
  context.because('newest report on the handle: its own level', { level: trustLevel, eventTime, known: row.eventTime })
  const plugin = context.get(plugins, row.plugin)
  const before = effectiveLevel(row, plugin)
  const returnNumber = plugin?.returnNumber ?? NEVER
  const isSame = row.own === trustLevel && (plugin === undefined || countedOwnLevel(row, plugin) === trustLevel)
  const told = isSame ? row : { since: context.time, offset: context.position.offset, index: context.position.index }
  const after = effectiveLevel({ own: trustLevel, returnNumber }, plugin)
  context.put(trust, cmHandle, {
    status: 'REGISTERED',
    plugin: row.plugin,
    own: trustLevel,
    eventTime,
    reported: true,
    since: told.since,
    announced: after,
    due: 0,
    returnNumber,
    offset: told.offset,
    index: told.index,
  })
  // Without a change of its own the handle is only told of earlier than its plugin's pass would.
  if (after !== row.announced)
    announce(context, cmHandle, row.announced, after, before === after ? 'plugin' : 'heartbeat')
}

/** The time of a report that arrives at `time`: arrival where it has none that can be right, and then why. */
export function ownTimeOf(
  { eventTime, eventTimeSource }: HeartbeatReported,
  time: number,
  maxFutureSkewMs: number,
): { readonly eventTime: number; readonly replaced?: 'absent' | 'malformed' | 'future' } {
  if (eventTime === null || eventTime < YEAR_2000_MS) {
    return { eventTime: time, replaced: eventTimeSource === 'ABSENT' ? 'absent' : 'malformed' }
  }
  return eventTime > time + maxFutureSkewMs ? { eventTime: time, replaced: 'future' } : { eventTime }
}

function eventTimeOf(report: HeartbeatReported, context: Context): number {
  const { maxFutureSkewMs } = context.settings
  const { eventTime, replaced } = ownTimeOf(report, context.time, maxFutureSkewMs)
  if (replaced === undefined) return eventTime
  if (replaced !== 'absent') {
    context.count('replaced_event_times', replaced)
    const compared = { eventTime: report.eventTime, arrival: context.time, maxFutureSkewMs }
    context.because(`its event time is ${replaced}: arrival counts`, compared)
  }
  return eventTime
}

/** Keeps the newest level for a registration to come; what was reported before the last removal has no handle any more. */
function unregistered(
  cmHandle: string,
  own: TrustLevel,
  eventTime: number,
  row: TrustRow | undefined,
  context: Context,
): void {
  context.count('pending_heartbeats')
  if (row !== undefined && eventTime < row.eventTime) {
    context.because('not registered, and older than what is known', { eventTime, known: row.eventTime })
    if (row.status === 'PENDING') {
      context.count('late_heartbeats')
      return
    }
    context.count('unregistered_dead_letters')
    context.deadLetter({
      code: UNREGISTERED,
      message: 'the cm handle was removed after this report, and is not registered',
    })
    return
  }
  const { pendingLevelMs } = context.settings
  const due = context.time + pendingLevelMs
  context.because('not registered: the level waits for a registration', { level: own, pendingLevelMs })
  if (row?.status === 'REMOVED') context.disarm(row.due, deadlineId('tombstone', cmHandle))
  rearm(context, deadlineId('pending', cmHandle), row?.status === 'PENDING' ? row.due : 0, due)
  context.put(trust, cmHandle, {
    status: 'PENDING',
    plugin: '',
    own,
    eventTime,
    reported: true,
    since: row?.status === 'PENDING' && row.own === own ? row.since : context.time,
    announced: own,
    due,
    returnNumber: NEVER,
    offset: context.position.offset,
    index: context.position.index,
  })
}

/** No registration came in time: the report goes to the dead letters. */
export function pendingLevelExpired({ subject: cmHandle, due }: DeadlineSubject, context: Context): void {
  const row = context.get(trust, cmHandle)
  if (row?.status !== 'PENDING' || row.due !== due) return
  context.delete(trust, cmHandle)
  context.because('no registration came in time', { since: row.since, pendingLevelMs: context.settings.pendingLevelMs })
  context.count('unregistered_dead_letters')
  context.deadLetter({
    code: UNREGISTERED,
    message: `the cm handle was not registered within ${context.settings.pendingLevelMs} ms`,
    position: { offset: row.offset, index: row.index },
  })
}

/** A removed handle is forgotten. */
export function tombstoneExpired({ subject: cmHandle, due }: DeadlineSubject, context: Context): void {
  const row = context.get(trust, cmHandle)
  if (row?.status === 'REMOVED' && row.due === due) context.delete(trust, cmHandle)
}
