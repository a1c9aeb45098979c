import { avroRowCodec } from '../../schemas/avro.js'
import type { FoldContext, OutputTopic, Processor, Query, QueryReader, Table } from '../../topology/processor.js'
import { siteEventSchemas, siteRecordSchema } from './events.js'
import type { RecordReceived, SiteEvent, SwitchMoved, SwitchRequested } from './events.js'
import { beginConsuming, instances, instancesOf, noteInstance } from './instances.js'
import type { SiteInstance } from './instances.js'
import { moved } from './moves.js'
import { roleOf } from './roles.js'
import { initialRecord, isNewer, otherSite, siteRecordJson } from './site-record.js'
import type { SiteRecord } from './site-record.js'

/** Key of the one record; the register's events go to its partition. */
export const SITE_KEY = 'site'
/** Domain of the register. */
export const SITE_REGISTER = 'register'

export const register: Table<SiteRecord> = {
  name: 'register',
  codec: avroRowCodec<SiteRecord>(siteRecordSchema('Register')),
  resident: true,
}

/** What became of an event; `record` is how the register stands after it. */
export interface SiteAnswer {
  /**
   * started, running: the switch to that target goes; done: it is active already; opposite: the other switch is running; moved,
   * taken: so it is now; stale: of another switch, or not from this phase, or older than what is known, or from a former owner.
   */
  readonly outcome: 'started' | 'running' | 'done' | 'opposite' | 'moved' | 'taken' | 'stale'
  readonly record: SiteRecord
}

/** The register as it stands. */
export interface SiteRegister {
  readonly record: SiteRecord
  /** Those that consume, or are not well. */
  readonly instances: readonly SiteInstance[]
}

export const registerQuery: Query<unknown, SiteRegister> = {
  name: 'register',
  isLookUp: true,
  run: (reader: QueryReader) =>
    Promise.resolve({
      record: reader.residentRow(register, SITE_KEY) ?? initialRecord,
      instances: instancesOf(reader),
    }),
}

/**
 * The site register: a processor like any other, on one partition and in an application of its own, for it runs on both
 * sites all the time. Each change goes to `topic` as JSON. (two sites, section 4)
 */
export function siteRegister(topic: string): Processor<SiteEvent> {
  const output: OutputTopic = { topic, json: siteRecordJson }
  return {
    name: SITE_REGISTER,
    foldVersion: 2,
    store: SITE_REGISTER,
    events: siteEventSchemas,
    inputs: [],
    outputs: [output],
    tables: [register, instances],
    queries: [registerQuery],
    effectors: [],
    counters: { moves: 'Changes of the site register, by phase' },
    settings: {},
    reads: () => ({ rows: [] }),
    evolve(event, context) {
      const before = context.get(register, SITE_KEY) ?? initialRecord
      const { outcome, record } = answerOf(event, before, context)
      if (record !== before) {
        context.put(register, SITE_KEY, record)
        context.count('moves', record.phase)
        context.emit(output, { key: SITE_KEY, value: JSON.stringify(record), headers: [] })
      }
      context.answer({ outcome, record } satisfies SiteAnswer)
    },
    readsOfDeadline: () => ({ rows: [] }),
    onDeadline: () => undefined,
  }
}

function answerOf(event: SiteEvent, before: SiteRecord, context: FoldContext): SiteAnswer {
  switch (event.type) {
    case 'SwitchRequested':
      return requested(event.data, before, context)
    case 'SwitchMoved':
      return reported(event.data, before, context)
    case 'RecordReceived':
      return received(event, before)
    case 'ConsumingBegun':
      return { outcome: beginConsuming(event.data, before, context) ? 'taken' : 'stale', record: before }
    case 'InstanceReported':
      noteInstance(event.data, context)
      return { outcome: 'taken', record: before }
  }
}

/** One run, however often it is asked for; the opposite is refused while it goes. (two sites, decisions 1, 2, 13 and 16) */
function requested(asked: SwitchRequested['data'], before: SiteRecord, context: FoldContext): SiteAnswer {
  const { target, kind, oldAlive, windowMs } = asked
  const { time } = context
  const isRunning = before.phase !== 'STEADY' && before.phase !== 'FAILED'
  const works = roleOf(target, before).consumes
  const isOpposite = isRunning && before.target !== target
  // A target that has failed, and with it all that works, is no reason to wait.
  if (isOpposite && (oldAlive || works)) return { outcome: 'opposite', record: before }
  if (!isRunning && works) return { outcome: 'done', record: before }
  if (isRunning && !isOpposite) {
    if (oldAlive || !before.oldAlive) return { outcome: 'running', record: before }
    const windowFrom = Math.min(before.windowFrom, before.switchedAt - windowMs)
    const record = moved(before, 'oldSiteDied', time, { kind: 'automatic', oldAlive: false, windowFrom })
    return { outcome: 'running', record: record ?? before }
  }
  const record = moved(before, isOpposite ? 'takenBack' : 'requested', time, {
    epoch: before.epoch + 1,
    step: 0,
    active: otherSite(target),
    target,
    kind,
    oldAlive,
    switchedAt: time,
    windowFrom: time - windowMs,
    attempt: 1,
    error: '',
    actor: context.actor ?? '',
    reason: context.reason ?? '',
  })
  return { outcome: 'started', record: record ?? before }
}

/** Of the switch under way, and of the one who has the register: of two instances the former may have been paused. */
function reported(
  { epoch, term, move, error, report }: SwitchMoved['data'],
  before: SiteRecord,
  { time, epoch: ownTerm }: FoldContext,
): SiteAnswer {
  const isOf = epoch === before.epoch && term === ownTerm
  const record = isOf ? moved(before, move, time, changesOf(move, before, error, report)) : undefined
  return record === undefined ? { outcome: 'stale', record: before } : { outcome: 'moved', record }
}

function changesOf(
  move: SwitchMoved['data']['move'],
  { active, target, epoch, attempt }: SiteRecord,
  error: string,
  report: string,
): Partial<SiteRecord> {
  switch (move) {
    case 'retried':
      return { attempt: attempt + 1, error }
    case 'loaded':
      return { active: target ?? active, error: '' }
    case 'caughtUp':
      return { target: null, report }
    case 'failed':
      return { error }
    case 'aborted':
      return { epoch: epoch + 1, step: 0, target: null, error: '' }
    case 'fenced':
      return {}
  }
}

function received({ data }: RecordReceived, before: SiteRecord): SiteAnswer {
  return isNewer(data, before) ? { outcome: 'taken', record: { ...data } } : { outcome: 'stale', record: before }
}
