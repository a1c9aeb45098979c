import { avroRowCodec } from '../schemas/avro.js'
import type { FoldContext, JournalEvent, Processor, Table } from './processor.js'

/** A small domain for the engine's own tests: counts events by key, with deadlines, sends, broadcasts and commands. */

export interface CountRow {
  readonly count: number
  readonly woken: number
  readonly lastOffset: number
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
      ],
    },
    ['lastOffset'],
  ),
  indexes: { byCount: { entries: (key, row) => [{ key: `${String(row.count).padStart(8, '0')}\u0000${key}` }] } },
}

export const totals: Table<{ total: number }> = {
  name: 'totals',
  resident: true,
  codec: avroRowCodec({ type: 'record', name: 'Total', fields: [{ name: 'total', type: 'long' }] }),
}

export const countOutput = { topic: 'count-changes' }

export interface Counted extends JournalEvent {
  readonly type: 'Counted'
  readonly data: { readonly key: string; readonly mode: string }
}

const countRow = (key: string): { table: Table<unknown>; key: string } => ({ table: counts, key })
const EMPTY: CountRow = { count: 0, woken: 0, lastOffset: -1 }

function evolve(event: Counted, context: FoldContext): void {
  const { key, mode } = event.data
  if (mode === 'fail') throw new Error(`this event always fails: ${key}`)
  const before = context.get(counts, key) ?? EMPTY
  const row = { ...before, count: before.count + 1, lastOffset: context.position.offset }
  context.put(counts, key, row)
  context.put(totals, 'all', { total: (context.get(totals, 'all')?.total ?? 0) + 1 })
  context.count('counted', mode)
  context.emit(countOutput, { key, value: JSON.stringify({ key, count: row.count }), headers: [['ce_type', 'count']] })
  if (mode === 'timer') context.arm(context.time + 1000, `wake/${key}`)
  if (mode === 'send') context.send(`${key}-sent`, { type: 'Counted', data: { key: `${key}-sent`, mode: '' } })
  if (mode === 'broadcast') context.broadcast({ type: 'Counted', data: { key: `${key}-everywhere`, mode: '' } })
  if (mode === 'deadLetter') context.deadLetter({ code: 'NOT_WANTED', message: `not wanted: ${key}` })
  if (mode === 'request') {
    const id = `${context.position.offset}/${context.position.index}`
    context.request({ id, kind: 'echo', target: key, payload: { key } })
  }
  context.answer({ key, count: row.count })
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
  outputs: [countOutput],
  tables: [counts, totals],
  queries: [],
  effectors: [
    {
      kind: 'echo',
      deadlineMs: 1000,
      perform: ({ payload }) =>
        Promise.resolve({ type: 'Counted', data: { key: `${(payload as { key: string }).key}-echo`, mode: '' } }),
    },
  ],
  counters: { counted: 'Events counted, by mode' },
  settings: { greeting: 'hello' },
  reads: ({ data }) => ({ rows: [countRow(data.key)] }),
  evolve,
  readsOfDeadline: ({ id }) => ({ rows: [countRow(id.slice('wake/'.length))] }),
  onDeadline({ id }, context) {
    const key = id.slice('wake/'.length)
    const row = context.get(counts, key)
    if (row !== undefined) context.put(counts, key, { ...row, woken: row.woken + 1 })
  },
}
