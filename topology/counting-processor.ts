import { avroRowCodec } from '../schemas/avro.js'
import type { FoldContext, IndexEntry, JournalEvent, Processor, Query, Reads, Table } from './processor.js'

/**
 * A small domain for the engine's own tests: counts events by key. What else an event does its mode says: `timer` and
 * `cancel`, `send`, `broadcast`, `request`, `delete`, `survey` (a scan), `deadLetter`, `fail`, `undeclared`, `intake` (asks how
 * far the inputs are taken in, which comes as `takenIn` and the answer); `at` and a number give it a time of its own.
 */

export interface CountRow {
  readonly count: number
  readonly woken: number
  readonly lastOffset: number
  /** The deadline armed last; 0: none. */
  readonly due: number
}

export const counts: Table<CountRow> = {
  name: 'counts',
  codec: avroRowCodec<CountRow>(
    {
      type: 'record',
      name: 'Count',
      fields: [
        { name: 'count', type: 'long' },
        { name: 'woken', type: 'long' },
        { name: 'lastOffset', type: 'long' },
        { name: 'due', type: 'long' },
      ],
    },
    ['lastOffset', 'due'],
  ),
  indexes: { byCount: { entries: (key, row) => [{ key: `${String(row.count).padStart(8, '0')}\u0000${key}` }] } },
}

export const totals: Table<{ total: number }> = {
  name: 'totals',
  resident: true,
  codec: avroRowCodec({ type: 'record', name: 'Total', fields: [{ name: 'total', type: 'long' }] }),
}

export const countOutput = { topic: 'count-changes' }
/** Told of events of mode `once`. */
export const onceOutput = { topic: 'count-notices', once: true } as const

export interface Counted extends JournalEvent {
  readonly type: 'Counted'
  readonly data: { readonly key: string; readonly mode: string }
}

/** Counts what was told of the intake. */
export const TAKEN_IN = 'x-taken-in'
/** Entries that a survey looks at. */
export const SURVEYED = 3
export const WAKE_AFTER_MS = 1000

const countRow = (key: string): { table: Table<unknown>; key: string } => ({ table: counts, key })
const keyOf = (entry: IndexEntry): string => entry.key.slice(entry.key.indexOf('\u0000') + 1)
const EMPTY: CountRow = { count: 0, woken: 0, lastOffset: -1, due: 0 }
const counted = (key: string): Counted => ({ type: 'Counted', data: { key, mode: '' } })

function reads({ data: { key, mode } }: Counted): Reads {
  if (mode !== 'survey') return { rows: [countRow(key)] }
  const thenRows = (entries: readonly IndexEntry[]): ReturnType<typeof countRow>[] =>
    entries.map((entry) => countRow(keyOf(entry)))
  const range = { limit: SURVEYED }
  return { rows: [countRow(key)], scan: { table: counts, index: 'byCount', range, thenRows } }
}

function evolve(event: Counted, context: FoldContext): void {
  const { key, mode } = event.data
  if (mode === 'fail') throw new Error(`this event always fails: ${key}`)
  if (mode === 'undeclared') context.get(counts, `not ${key}`)
  const before = context.get(counts, key) ?? EMPTY
  const surveyed = context.scanned.reduce((sum, entry) => sum + (context.get(counts, keyOf(entry))?.count ?? 0), 0)
  const row = { ...before, count: before.count + 1 + surveyed, lastOffset: context.position.offset }
  context.put(counts, key, row)
  context.put(totals, 'all', { total: (context.get(totals, 'all')?.total ?? 0) + 1 })
  context.count('counted', mode)
  context.because('counted', { before: before.count, surveyed })
  context.emit(countOutput, { key, value: JSON.stringify({ key, count: row.count }), headers: [['ce_type', 'count']] })
  if (mode === 'once') context.emit(onceOutput, { key, value: String(row.count), headers: [] })
  if (mode === 'timer') {
    const due = context.time + WAKE_AFTER_MS
    context.arm(due, `wake/${key}`)
    context.put(counts, key, { ...row, due })
  }
  if (mode === 'cancel') {
    context.disarm(row.due, `wake/${key}`)
    context.put(counts, key, { ...row, due: 0 })
  }
  if (mode === 'delete') context.delete(counts, key)
  if (mode === 'send') context.send(`${key}-sent`, counted(`${key}-sent`))
  if (mode === 'broadcast') context.broadcast(counted(`${key}-everywhere`))
  if (mode === 'deadLetter') context.deadLetter({ code: 'NOT_WANTED', message: `not wanted: ${key}` })
  if (mode === 'intake') context.askIntake()
  if (mode === 'request') {
    const id = `${context.position.offset}/${context.position.index}`
    context.request({ id, kind: 'echo', target: key, payload: { key } })
  }
  context.answer({ key, count: row.count })
}

export const countQuery: Query = {
  name: 'count',
  run: async (reader, key) => (await reader.get(counts, key as string))?.count ?? 0,
}

/** `value` of an input record: `key` or `key:mode`; empty is rejected. */
export const countingProcessor: Processor<Counted> = {
  name: 'counting',
  foldVersion: 1,
  store: 'counts',
  events: {
    Counted: {
      type: 'record',
      name: 'Counted',
      fields: [
        { name: 'key', type: 'string' },
        { name: 'mode', type: 'string' },
      ],
    },
  },
  inputs: [
    {
      topic: 'count-me',
      types: ['org.example.count'],
      decode({ value }) {
        const [key = '', mode = ''] = (value?.toString() ?? '').split(':')
        if (key === '') return { kind: 'rejected', code: 'EMPTY', message: 'the value is empty', field: 'value' }
        if (key === 'skip') return { kind: 'skipped', reason: 'asked for' }
        return { kind: 'event', key, event: { type: 'Counted', data: { key, mode } } }
      },
    },
  ],
  outputs: [countOutput, onceOutput],
  tables: [counts, totals],
  queries: [countQuery],
  effectors: [
    {
      kind: 'echo',
      deadlineMs: 1000,
      perform: ({ payload }) => Promise.resolve(counted(`${(payload as { key: string }).key}-echo`)),
    },
  ],
  counters: { counted: 'Events counted, by mode' },
  settings: { greeting: 'hello' },
  inputsTakenIn: (taken) => ({ type: 'Counted', data: { key: TAKEN_IN, mode: `takenIn${JSON.stringify(taken)}` } }),
  reads,
  evolve,
  readsOfDeadline: ({ id }) => ({ rows: [countRow(id.slice('wake/'.length))] }),
  eventTime: ({ data: { mode } }) => (mode.startsWith('at') ? Number(mode.slice(2)) : undefined),
  subjects: {
    relatedRows: () => [{ table: totals, key: 'all' }],
    state: (key, get) => {
      const row = get(counts, key)
      return row === undefined ? null : { count: row.count, woken: row.woken }
    },
  },
  onDeadline({ id }, context) {
    const key = id.slice('wake/'.length)
    const row = context.get(counts, key)
    if (row !== undefined) context.put(counts, key, { ...row, woken: row.woken + 1 })
  },
}
