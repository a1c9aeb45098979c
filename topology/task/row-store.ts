import { EngineError } from '../errors.js'
import { cut } from '../../common/errors.js'
import type { RowCodec } from '../../schemas/avro.js'
import type { Table } from '../processor.js'
import type { KeyValueStore } from '../../state-stores/key-value-store.js'
import { ReusedBytes } from '../../common/reused-bytes.js'
import { RowCache } from './row-cache.js'
import type { RowCachePart, RowCaches } from './row-cache.js'
import { tableRuntimes } from './table-runtime.js'
import type { TableRuntime } from './table-runtime.js'

/**
 * A row's bytes: a latin1 text, which takes far less memory than a Buffer and is what the cache holds; of resident tables, whose
 * codec may share them with the row, a Buffer.
 */
export type Encoded = string | Buffer

/** A row as the store holds it; `encoded` undefined: it holds none. */
export interface StoredRow {
  readonly row: unknown
  readonly encoded: Encoded | undefined
}

/** A row changed since the last freeze, with what it replaces. `row` undefined: deleted. */
export interface DirtyRow {
  row: unknown
  readonly base: StoredRow | undefined
  /** Once its generation is frozen. */
  encoded: Encoded | undefined
}

/** A table's rows by where they stand: changed, being committed, loaded for the events at hand, resident. */
export interface TableState {
  readonly runtime: TableRuntime
  current: Map<string, DirtyRow>
  committing: Map<string, DirtyRow> | undefined
  loaded: Map<string, StoredRow>
  readonly resident: Map<string, unknown> | undefined
  /** Undefined: its rows are hardly read twice. */
  readonly cache: RowCachePart | undefined
}

/** A row that an event has changed; undefined: there was, or is, none. */
export interface RowChange {
  readonly table: Table<unknown>
  readonly key: string
  readonly before: unknown
  readonly after: unknown
}

interface Undo {
  state: TableState
  key: string
  dirty: DirtyRow | undefined
  row: unknown
  resident: unknown
}

const ABSENT: StoredRow = { row: undefined, encoded: undefined }

/**
 * A task's rows between store and fold. Reads during a fold are synchronous (what may be read is loaded before); writes stay
 * in memory until a commit freezes them, so a key changed often between commits is written once.
 */
export class RowStore {
  readonly tables: readonly TableState[]
  readonly #byTable = new Map<Table<unknown>, TableState>()
  readonly #byPrefix = new Map<string, TableState>()
  #store: KeyValueStore
  /** Read from the store for the segment at hand. */
  readonly #fetched: { readonly state: TableState; readonly key: string; readonly stored: StoredRow }[] = []
  /** What the event has done so far, oldest first; behind that, what earlier ones did: used again. */
  readonly #undo: Undo[] = []
  #undoable = 0
  #segmentOpen = false
  #commits = 0

  /** `cache`: shared with others, or the bytes of one of its own, for events. */
  constructor(store: KeyValueStore, tables: readonly Table<unknown>[], cache: RowCaches | number) {
    this.#store = store
    const caches: RowCaches = typeof cache === 'number' ? { events: new RowCache(cache) } : cache
    this.tables = tableRuntimes(tables).map((runtime) => ({
      runtime,
      current: new Map(),
      committing: undefined,
      loaded: new Map(),
      resident: runtime.table.resident === true ? new Map() : undefined,
      cache: runtime.cachedFor && caches[runtime.cachedFor]?.part(),
    }))
    for (const state of this.tables) {
      this.#byTable.set(state.runtime.table, state)
      this.#byPrefix.set(state.runtime.prefix, state)
    }
  }

  get store(): KeyValueStore {
    return this.#store
  }

  /** After the store was closed and opened again (a disk that was full). */
  replaceStore(store: KeyValueStore): void {
    this.#store = store
  }

  state(table: Table<unknown>): TableState {
    const state = this.#byTable.get(table)
    if (state === undefined) throw new EngineError('ROW_NOT_DECLARED', `table ${table.name} is not the processor's`)
    return state
  }

  /** Reads resident tables whole; once, before the first fold. */
  async loadResident(): Promise<void> {
    for (const { runtime, resident } of this.tables) {
      if (resident === undefined) continue
      for await (const page of this.#store.entries(prefixRange(runtime.prefix))) {
        for (const [key, value] of page) resident.set(key.toString('utf8', 1), runtime.table.codec.decode(value))
      }
    }
  }

  /** Loads rows for a segment of the fold; what is loaded stays until `endSegment`. */
  async load(references: Iterable<{ readonly table: Table<unknown>; readonly key: string }>): Promise<void> {
    this.#segmentOpen = true
    const missing: { state: TableState; key: string }[] = []
    const keys: Buffer[] = []
    for (const { table, key } of references) {
      const state = this.state(table)
      if (state.resident !== undefined || state.loaded.has(key) || state.current.has(key)) continue
      const committing = state.committing?.get(key)
      const stored =
        committing === undefined ? cached(state, key) : { row: committing.row, encoded: committing.encoded }
      if (stored !== undefined) {
        state.loaded.set(key, stored)
      } else {
        state.loaded.set(key, ABSENT)
        missing.push({ state, key })
        keys.push(Buffer.from(state.runtime.prefix + key))
      }
    }
    if (keys.length === 0) return
    const values = await this.#store.getMany(keys).catch((thrown: unknown) => {
      // What could not be read must not stand there as absent for the next try.
      for (const { state, key } of missing) state.loaded.delete(key)
      throw thrown
    })
    for (const [i, { state, key }] of missing.entries()) {
      // A commit that ended meanwhile has brought the newer row.
      if (state.loaded.get(key) !== ABSENT) continue
      const stored = storedRow(state, values[i])
      state.loaded.set(key, stored)
      if (state.cache !== undefined) this.#fetched.push({ state, key, stored })
    }
  }

  /** Maps are made anew, for one that is cleared keeps all it ever held until the next full collection. */
  endSegment(): void {
    this.#segmentOpen = false
    // What was changed is remembered when it is committed.
    for (const { state, key, stored } of this.#fetched) {
      if (!state.current.has(key) && state.loaded.get(key) === stored) remember(state, key, stored.encoded)
    }
    this.#fetched.length = 0
    for (const state of this.tables) if (state.loaded.size > 0) state.loaded = new Map()
  }

  /** A row as the fold sees it. Errors: ROW_NOT_DECLARED. */
  get(state: TableState, key: string): unknown {
    if (state.resident !== undefined) return state.resident.get(key)
    const dirty = state.current.get(key) ?? state.committing?.get(key)
    if (dirty !== undefined) return dirty.row
    const loaded = state.loaded.get(key)
    if (loaded === undefined) throw notDeclared(state, key)
    return loaded.row
  }

  /** Puts (or with undefined deletes) a row; `revert` takes back all since `beginEvent`. */
  put(state: TableState, key: string, row: unknown): void {
    // Checked at once, so that a row which does not fit its schema fails the event that made it; encoded when it is written.
    if (row !== undefined && state.runtime.foreign) check(state.runtime.table.codec, row)
    const dirty = state.current.get(key)
    this.#note(state, key, dirty)
    if (dirty === undefined) state.current.set(key, { row, base: baseOf(state, key), encoded: undefined })
    else dirty.row = row
    if (state.resident !== undefined) {
      if (row === undefined) state.resident.delete(key)
      else state.resident.set(key, row)
    }
  }

  beginEvent(): void {
    this.#undoable = 0
  }

  /** For `revert`, before a change. */
  #note(state: TableState, key: string, dirty: DirtyRow | undefined): void {
    const undo = this.#undo[this.#undoable++]
    const row = dirty?.row
    const resident = state.resident?.get(key)
    if (undo === undefined) {
      this.#undo.push({ state, key, dirty, row, resident })
      return
    }
    undo.state = state
    undo.key = key
    undo.dirty = dirty
    undo.row = row
    undo.resident = resident
  }

  /** What has changed since `beginEvent`; of a row changed twice the first state before and the last after. */
  changes(): readonly RowChange[] {
    const seen = new Set<string>()
    return this.#undo.slice(0, this.#undoable).flatMap(({ state, key, dirty, row, resident }): RowChange[] => {
      const { runtime } = state
      if (seen.has(runtime.prefix + key)) return []
      seen.add(runtime.prefix + key)
      const changed = state.current.get(key)
      const before = state.resident !== undefined ? resident : dirty !== undefined ? row : changed?.base?.row
      return [{ table: runtime.table, key, before, after: changed?.row }]
    })
  }

  revert(): void {
    for (const { state, key, dirty, row, resident } of this.#undo.slice(0, this.#undoable).reverse()) {
      if (dirty === undefined) state.current.delete(key)
      else dirty.row = row
      if (state.resident !== undefined) {
        if (resident === undefined) state.resident.delete(key)
        else state.resident.set(key, resident)
      }
    }
    this.#undoable = 0
  }

  /** What a query sees: folded, committed or not. */
  async read(state: TableState, key: string): Promise<unknown> {
    for (;;) {
      const found = known(state, key)
      if (found !== undefined) return found.row
      const commits = this.#commits
      const bytes = await this.#store.get(Buffer.from(state.runtime.prefix + key))
      // The row may have gone from memory to the store while it was read: look again.
      if (commits !== this.#commits) continue
      const changed = known(state, key)
      if (changed !== undefined) return changed.row
      const { row, encoded } = storedRow(state, bytes)
      remember(state, key, encoded)
      return row
    }
  }

  async readMany(state: TableState, keys: readonly string[]): Promise<unknown[]> {
    for (;;) {
      const rows: ({ readonly row: unknown } | undefined)[] = keys.map((key) => known(state, key))
      const missing = keys.filter((_key, i) => rows[i] === undefined)
      if (missing.length === 0) return rows.map((found) => found?.row)
      const commits = this.#commits
      const values = await this.#store.getMany(missing.map((key) => Buffer.from(state.runtime.prefix + key)))
      // Rows may have gone from memory to the store while it was read: look again.
      if (commits !== this.#commits) continue
      let next = 0
      return rows.map((found, i) => {
        if (found !== undefined) return found.row
        const changed = known(state, keys[i] ?? '')
        const bytes = values[next++]
        if (changed !== undefined) return changed.row
        return bytes === undefined ? undefined : state.runtime.table.codec.decode(bytes)
      })
    }
  }

  /** Rows as the last commit left them, by store key; while no other is under way. */
  async committed(storeKeys: readonly string[]): Promise<(Buffer | null)[]> {
    const missing: Buffer[] = []
    const texts = storeKeys.map((storeKey) => {
      const text = this.#byPrefix.get(storeKey.charAt(0))?.cache?.get(storeKey.slice(1))
      if (text === undefined) missing.push(Buffer.from(storeKey))
      return text
    })
    const read = missing.length === 0 ? [] : await this.#store.getMany(missing)
    let next = 0
    return texts.map((text) => {
      if (text === undefined) return read[next++] ?? null
      return text === '' ? null : Buffer.from(text, 'latin1')
    })
  }

  /** Rows changed and not yet committed. */
  get dirtyRows(): number {
    let rows = 0
    for (const state of this.tables) rows += state.current.size
    return rows
  }

  /** A frozen generation is in the store: its rows are what the store holds. */
  finishCommit(): void {
    this.#commits++
    for (const state of this.tables) {
      const { committing, loaded } = state
      if (committing === undefined) continue
      if (state.resident === undefined) {
        for (const [key, { row, encoded }] of committing) {
          remember(state, key, encoded)
          if (this.#segmentOpen) loaded.set(key, { row, encoded })
        }
      }
      state.committing = undefined
    }
  }
}

/** For a query: a row in memory, while the rest is read from the store. */
function known(state: TableState, key: string): { readonly row: unknown } | undefined {
  if (state.resident !== undefined) return { row: state.resident.get(key) }
  return state.current.get(key) ?? state.committing?.get(key) ?? cached(state, key)
}

function cached({ cache, runtime }: TableState, key: string): StoredRow | undefined {
  const text = cache?.get(key)
  if (text === undefined) return undefined
  return text === '' ? ABSENT : { row: runtime.table.codec.decode(bytesOf(text)), encoded: text }
}

function remember({ cache }: TableState, key: string, encoded: Encoded | undefined): void {
  cache?.set(key, typeof encoded === 'object' ? encoded.toString('latin1') : (encoded ?? ''))
}

function storedRow({ runtime }: TableState, bytes: Buffer | undefined): StoredRow {
  if (bytes === undefined) return ABSENT
  return { row: runtime.table.codec.decode(bytes), encoded: bytes.toString('latin1') }
}

/** What a first change replaces; tables without digest and indexes may be written blind. */
function baseOf(state: TableState, key: string): StoredRow | undefined {
  const committing = state.committing?.get(key)
  if (committing !== undefined) return { row: committing.row, encoded: committing.encoded }
  const { digested, indexes } = state.runtime
  if (state.resident !== undefined) {
    const row = state.resident.get(key)
    return row === undefined ? ABSENT : { row, encoded: encodedOf(state, row) }
  }
  const loaded = state.loaded.get(key)
  if (loaded === undefined && (digested || indexes.length > 0)) throw notDeclared(state, key)
  return loaded
}

const rowBytes = new ReusedBytes()

/** A row's bytes, until the next call. */
export function bytesOf(encoded: Encoded): Buffer {
  return typeof encoded === 'string' ? rowBytes.latin1(encoded) : encoded
}

export function encodedOf({ resident, runtime }: TableState, row: unknown): Encoded {
  const { codec } = runtime.table
  if (resident !== undefined) return codec.encode(row)
  return (codec.encodeReused === undefined ? codec.encode(row) : codec.encodeReused(row)).toString('latin1')
}

function check(codec: RowCodec<unknown>, row: unknown): void {
  if (codec.check === undefined) codec.encode(row)
  else codec.check(row)
}

function notDeclared(state: TableState, key: string): EngineError {
  return new EngineError(
    'ROW_NOT_DECLARED',
    `row ${cut(key)} of ${state.runtime.table.name} was not declared by the processor`,
  )
}

/** All keys that begin with a one-character prefix. */
export function prefixRange(prefix: string): { gte: Buffer; lt: Buffer } {
  return { gte: Buffer.from(prefix), lt: Buffer.from(String.fromCharCode(prefix.charCodeAt(0) + 1)) }
}

/** A resident table's rows in key order. */
export function residentRows(state: TableState): [key: string, row: unknown][] {
  return [...(state.resident ?? [])].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
}
