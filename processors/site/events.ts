import { avroType } from '../../schemas/avro.js'
import type { AvroRecordSchema } from '../../schemas/avro.js'
import type { ReportedMove } from './moves.js'
import type { SiteName, SiteRecord, SwitchKind } from './site-record.js'
import { phases, siteNames, switchKinds } from './site-record.js'
import { reportedMoves } from './moves.js'

/** A site is to become active. Actor and reason come with the entry. */
export interface SwitchRequested {
  readonly type: 'SwitchRequested'
  readonly data: {
    readonly target: SiteName
    readonly kind: SwitchKind
    readonly oldAlive: boolean
    readonly windowMs: number
  }
}

/** The target has come so far with the switch of this epoch. */
export interface SwitchMoved {
  readonly type: 'SwitchMoved'
  readonly data: {
    readonly epoch: number
    /** Number of the register's owner's term in which the one who reports it has had the register. */
    readonly term: number
    readonly move: ReportedMove
    readonly error: string
    /** With `caughtUp`. */
    readonly report: string
  }
}

/** The other site's record has come. */
export interface RecordReceived {
  readonly type: 'RecordReceived'
  readonly data: SiteRecord
}

/** An instance of this site is about to consume, by the register as it knows it. */
export interface ConsumingBegun {
  readonly type: 'ConsumingBegun'
  readonly data: { readonly instance: string; readonly epoch: number; readonly step: number }
}

/** What an instance of this site says of itself, or its owner of one that is gone: that it consumes begins with the other event alone. */
export interface InstanceReported {
  readonly type: 'InstanceReported'
  readonly data: {
    readonly instance: string
    readonly consumes: boolean
    /** What its components say is wrong; empty: nothing. */
    readonly troubles: string
  }
}

export type SiteEvent = SwitchRequested | SwitchMoved | RecordReceived | ConsumingBegun | InstanceReported

const namespace = 'pulsefold.site'
export const record = (name: string, fields: AvroRecordSchema['fields']): AvroRecordSchema => ({
  type: 'record',
  name,
  namespace,
  fields,
})
const enumeration = (name: string, symbols: readonly string[]): unknown => ({ type: 'enum', name, namespace, symbols })
export const of = (type: unknown, ...names: readonly string[]): AvroRecordSchema['fields'] =>
  names.map((name) => ({ name, type }))

/** The record under another name: all records of a journal are branches of one union. */
export const siteRecordSchema = (name: string): AvroRecordSchema =>
  record(name, [
    ...of('long', 'epoch', 'step'),
    { name: 'active', type: enumeration(`${name}Active`, siteNames) },
    { name: 'target', type: ['null', enumeration(`${name}Target`, siteNames)] },
    { name: 'phase', type: enumeration(`${name}Phase`, phases) },
    { name: 'kind', type: enumeration(`${name}Kind`, switchKinds) },
    ...of('boolean', 'oldAlive'),
    ...of('long', 'since', 'switchedAt', 'windowFrom', 'attempt'),
    ...of('string', 'error', 'actor', 'reason', 'report'),
  ])

export const siteEventSchemas: Readonly<Record<SiteEvent['type'], AvroRecordSchema>> = {
  SwitchRequested: record('SwitchRequested', [
    { name: 'target', type: enumeration('RequestedTarget', siteNames) },
    { name: 'kind', type: enumeration('RequestedKind', switchKinds) },
    ...of('boolean', 'oldAlive'),
    ...of('long', 'windowMs'),
  ]),
  SwitchMoved: record('SwitchMoved', [
    ...of('long', 'epoch', 'term'),
    { name: 'move', type: enumeration('ReportedMove', reportedMoves) },
    ...of('string', 'error', 'report'),
  ]),
  RecordReceived: siteRecordSchema('RecordReceived'),
  ConsumingBegun: record('ConsumingBegun', [...of('string', 'instance'), ...of('long', 'epoch', 'step')]),
  InstanceReported: record('InstanceReported', [
    ...of('string', 'instance'),
    ...of('boolean', 'consumes'),
    ...of('string', 'troubles'),
  ]),
}

const recordType = avroType(siteRecordSchema('SiteRecord'))

/** Days of the calendar that can be told: 8.64e15 ms. */
const MAX_TIME = 8.64e15
const MAX_COUNT = 2 ** 40

/** Whether a value, as JSON brings it, is a record of the register that can be acted by, and told. */
export function isSiteRecord(value: unknown): value is SiteRecord {
  if (!recordType.isValid(value)) return false
  const { epoch, step, attempt, since, switchedAt, windowFrom, report } = value as SiteRecord
  const isCounted = [epoch, step, attempt].every((count) => count >= 0 && count <= MAX_COUNT)
  return isCounted && [since, switchedAt, windowFrom].every((time) => Math.abs(time) <= MAX_TIME) && isReport(report)
}

function isReport(text: string): boolean {
  if (text === '') return true
  try {
    const report: unknown = JSON.parse(text)
    return typeof report === 'object' && report !== null
  } catch {
    return false
  }
}
