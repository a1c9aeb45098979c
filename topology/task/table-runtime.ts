import type { RowCodec } from '../../schemas/avro.js'
import type { Table } from '../processor.js'

/** Key spaces of a task's store: one character first, so that all keys but two rows of meta data are text. */
export const META = '\u0001'
/** Keys that the changelog does not hold yet. */
export const LACKING = '\u0002'
/** Keys of the changelog besides rows: its markers, and who owns the task. */
export const CHANGELOG_MARKER = META + 'marker'
export const CHANGELOG_OWNER = META + 'owner'
/** Key of the position up to which outputs declared `once` are out. */
export const ONCE_OUTPUTS = META + 'once'
const TABLES = 0x10
const INDEXES = 0x40

/** A table as a task keeps it: its key space, its indexes with theirs, and whether the digest covers it. */
export interface TableRuntime<Row = unknown> {
  readonly table: Table<Row>
  readonly prefix: string
  readonly indexes: readonly IndexRuntime[]
  readonly digested: boolean
  /** For whose sake rows stay in memory; undefined: nobody's, as the engine's own, which are hardly read twice. */
  readonly cachedFor: 'events' | 'queries' | undefined
  /** Rows hold what a processor made, which may not fit the codec. */
  readonly foreign: boolean
}

export interface IndexRuntime {
  readonly name: string
  readonly prefix: string
}

/** JSON rows, for the engine's own small tables. */
export function jsonCodec<Row>(): RowCodec<Row> {
  return {
    encode: (row) => Buffer.from(JSON.stringify(row)),
    check: (row) => void JSON.stringify(row),
    decode: (bytes) => JSON.parse(bytes.toString()) as Row,
  }
}

/** Highest position taken from a source; a lower or equal one is a repeat. */
export interface SourceRow {
  readonly offset: number
  readonly index: number
  /** Journal time of the last entry, ms. */
  readonly time: number
}

export interface AnswerRow {
  readonly answer: unknown
  readonly offset: number
}

export interface OwedRow {
  readonly kind: string
  readonly target: string
  readonly payload: unknown
  /** Offset, index and number of the request: effects on one target are carried out in this order. */
  readonly order: readonly [offset: number, index: number, request: number]
}

const ARMED = Buffer.of(1)
const sources: Table<SourceRow> = { name: '$sources', codec: jsonCodec(), resident: true }
/** Key: due in 14 hex digits, then the id: in order of time. The row says nothing more. */
const deadlines: Table<true> = { name: '$deadlines', codec: { encode: () => ARMED, decode: () => true } }
const answers: Table<AnswerRow> = { name: '$answers', codec: jsonCodec() }
const owed: Table<OwedRow> = { name: '$owed', codec: jsonCodec(), resident: true }

/** The engine's own tables: they survive with the state (store and changelog) but are no part of the digest. */
export const engineTables = { sources, deadlines, answers, owed }

/** Fixed key spaces by order of declaration: adding a table at the end keeps those of the others. */
export function tableRuntimes(tables: readonly Table<unknown>[]): readonly TableRuntime[] {
  let nextIndex = INDEXES
  return [...(Object.values(engineTables) as unknown as Table<unknown>[]), ...tables].map((table, position) => ({
    table,
    prefix: String.fromCharCode(TABLES + position),
    digested: !table.name.startsWith('$'),
    cachedFor: table.name.startsWith('$') || table.resident === true ? undefined : (table.cachedFor ?? 'events'),
    foreign: table !== sources && table !== deadlines,
    indexes: Object.keys(table.indexes ?? {}).map((name) => ({ name, prefix: String.fromCharCode(nextIndex++) })),
  }))
}

/** Keys from here on are rows that folds wrote, then index entries; those before are the engine's own. */
export const FIRST_ROW = String.fromCharCode(TABLES + Object.keys(engineTables).length)
export const FIRST_INDEX = String.fromCharCode(INDEXES)

const DUE_DIGITS = 14

export function deadlineKey(due: number, id: string): string {
  return Math.max(0, Math.floor(due)).toString(16).padStart(DUE_DIGITS, '0') + id
}

export function parseDeadlineKey(key: string): { due: number; id: string } {
  return { due: Number.parseInt(key.slice(0, DUE_DIGITS), 16), id: key.slice(DUE_DIGITS) }
}
