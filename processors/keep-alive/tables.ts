import { avroRowCodec } from '../../schemas/avro.js'
import type { AvroRecordSchema } from '../../schemas/avro.js'
import { NODE_TYPES } from '../../schemas/keep-alive/journal-events.js'
import type { NodeType } from '../../schemas/keep-alive/journal-events.js'
import type { Table } from '../../topology/processor.js'
import { E2T_STATES, RAN_STATES } from './moves.js'
import type { E2tState, RanState } from './moves.js'

/** Between the parts of a key; no name has it. */
export const SEPARATOR = '\u0000'

export function keyOf(...parts: readonly string[]): string {
  return parts.join(SEPARATOR)
}

/** The part of a key behind the RIC's id. */
export function nameIn(ric: string, key: string): string {
  return key.slice(ric.length + SEPARATOR.length)
}

/** A RIC, by its id: what E2T instances it has, and which requests were sent to them. */
export interface RicRow {
  readonly enableRic: boolean
  /** Instances that are stored, in the order of their registration. */
  readonly addresses: readonly string[]
  /** Number of the last tick, and the deadline of the next; 0: none, for there is no instance. */
  readonly tick: number
  readonly tickDue: number
  /** Term and tick of the last request known to be sent, and since when silence counts in this term. */
  readonly sentEpoch: number
  readonly sentTick: number
  readonly freshAt: number
  /** The last requests since then, oldest first; bounded. */
  readonly requests: readonly SentRequest[]
  /** Deadline of the Red Button's second phase; 0: none. */
  readonly redButtonDue: number
}

/** A request that was sent, between its tick and the time at which that was known. */
export interface SentRequest {
  readonly askedAt: number
  readonly sentAt: number
}

/** An E2T instance, by RIC and address. */
export interface E2tInstanceRow {
  readonly podName: string
  readonly state: E2tState
  /** Of the last registration or restart. */
  readonly registeredAt: number
  /** 0: none yet. */
  readonly answeredAt: number
  /** Deadline at which it is forgotten; 0: it is not to be deleted. */
  readonly deletionDue: number
  readonly ranCount: number
}

/** A RAN by RIC and name: what changes often. */
export interface RanRow {
  readonly state: RanState
  /** Empty: none. */
  readonly e2tAddress: string
  /** 0: its state has never changed. */
  readonly stateChangedAt: number
  readonly plmnId: string
  readonly nbId: string
  /** 0: never. */
  readonly healthAskedAt: number
  readonly healthAnsweredAt: number
}

/** What is known of a RAN besides, by RIC and name. */
export interface NodebRow {
  readonly nodeType: NodeType
  readonly ip: string
  readonly port: number
  readonly setupFromNetwork: boolean
  /** JSON of the member `enb` or `gnb`. */
  readonly configuration: string
}

/** A message that must not count twice, by RIC, source and id; it is forgotten at its deadline. */
export interface SeenMessageRow {
  readonly due: number
}

/** The event that asked for an effect. */
export interface Requested {
  readonly offset: number
  readonly index: number
}

/** What is owed to the Routing Manager, by RIC, instance and RAN: a later call on the same replaces an earlier one. */
export interface RoutingManagerCallRow extends Requested {
  readonly purpose: 'register' | 'associate' | 'dissociate' | 'delete'
  readonly ranNames: readonly string[]
  readonly since: number
  /** The RAN's setup is answered only when this has come to an end, with its transaction id. */
  readonly isAwaited: boolean
  readonly transactionId: string
}

/** A pod about to be deleted, by RIC and address of its instance. */
export interface PodDeletionRow extends Requested {
  readonly podName: string
  /** Empty: not looked up yet. */
  readonly uid: string
  /** Deadline at which it is given up. */
  readonly due: number
}

const schema = (name: string, ...fields: AvroRecordSchema['fields'][]): AvroRecordSchema => ({
  type: 'record',
  name,
  fields: fields.flat(),
})
const fields = (type: unknown, ...names: readonly string[]): AvroRecordSchema['fields'] =>
  names.map((name) => ({ name, type }))
const text = (...names: readonly string[]): AvroRecordSchema['fields'] => fields('string', ...names)
const long = (...names: readonly string[]): AvroRecordSchema['fields'] => fields('long', ...names)
const oneOf = (name: string, type: string, symbols: readonly string[]): AvroRecordSchema['fields'] => [
  { name, type: { type: 'enum', name: type, symbols } },
]
const list = (items: unknown): unknown => ({ type: 'array', items })

export const rics: Table<RicRow> = {
  name: 'rics',
  resident: true,
  codec: avroRowCodec<RicRow>(
    schema(
      'Ric',
      fields('boolean', 'enableRic'),
      fields(list('string'), 'addresses'),
      long('tick', 'tickDue', 'sentEpoch', 'sentTick', 'freshAt'),
      fields(list(schema('SentRequest', long('askedAt', 'sentAt'))), 'requests'),
      long('redButtonDue'),
    ),
  ),
}

export const e2tInstances: Table<E2tInstanceRow> = {
  name: 'e2t-instances',
  resident: true,
  codec: avroRowCodec<E2tInstanceRow>(
    schema(
      'E2tInstance',
      text('podName'),
      oneOf('state', 'E2tState', E2T_STATES),
      long('registeredAt', 'answeredAt', 'deletionDue', 'ranCount'),
    ),
  ),
}

/** Resident, so that a kill finds and changes all RANs of its instance in one fold. */
export const rans: Table<RanRow> = {
  name: 'rans',
  resident: true,
  codec: avroRowCodec<RanRow>(
    schema(
      'Ran',
      oneOf('state', 'RanState', RAN_STATES),
      text('e2tAddress'),
      long('stateChangedAt'),
      text('plmnId', 'nbId'),
      long('healthAskedAt', 'healthAnsweredAt'),
    ),
  ),
}

export const nodebs: Table<NodebRow> = {
  name: 'nodebs',
  codec: avroRowCodec<NodebRow>(
    schema(
      'Nodeb',
      oneOf('nodeType', 'NodebType', NODE_TYPES),
      text('ip'),
      long('port'),
      fields('boolean', 'setupFromNetwork'),
      text('configuration'),
    ),
  ),
}

export const seenMessages: Table<SeenMessageRow> = {
  name: 'seen-messages',
  codec: avroRowCodec<SeenMessageRow>(schema('SeenMessage', long('due'))),
}

export const routingManagerCalls: Table<RoutingManagerCallRow> = {
  name: 'routing-manager-calls',
  resident: true,
  codec: avroRowCodec<RoutingManagerCallRow>(
    schema(
      'RoutingManagerCall',
      long('offset', 'index'),
      oneOf('purpose', 'RoutingManagerPurpose', ['register', 'associate', 'dissociate', 'delete']),
      fields(list('string'), 'ranNames'),
      long('since'),
      fields('boolean', 'isAwaited'),
      text('transactionId'),
    ),
    ['offset', 'index'],
  ),
}

export const podDeletions: Table<PodDeletionRow> = {
  name: 'pod-deletions',
  resident: true,
  codec: avroRowCodec<PodDeletionRow>(schema('PodDeletion', text('podName', 'uid'), long('due', 'offset', 'index')), [
    'offset',
    'index',
  ]),
}

export const tables = [
  rics,
  e2tInstances,
  rans,
  nodebs,
  seenMessages,
  routingManagerCalls,
  podDeletions,
] as unknown as readonly Table<unknown>[]
