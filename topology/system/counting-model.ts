import { v5 as uuidV5 } from 'uuid'
import { createStoreDigest } from '../../state-stores/digest.js'
import { countingProcessor, counts, SURVEYED, totals, WAKE_AFTER_MS } from '../counting-processor.js'
import type { Counted, CountRow } from '../counting-processor.js'
import { blockCodec } from '../journal/block-codec.js'
import type { EventEntry, JournalEntry } from '../journal/entry.js'
import type { LogRecord } from '../log/log.js'
import { partitionOf } from '../partitioner.js'
import type { SourcePosition } from '../processor.js'
import { tableRuntimes } from '../task/table-runtime.js'

/**
 * What a journal partition of the counting processor must come to, written down a second time and plainly: maps in
 * memory, one entry after the other, no store, no commit. The engine's tests hold the engine to it.
 */
export interface CountingModel {
  readonly counts: ReadonlyMap<string, CountRow>
  /** ce_id → value. */
  readonly outputs: ReadonlyMap<string, string>
  /** As `outputs`, of the topic where each must appear once. */
  readonly notices: ReadonlyMap<string, string>
  /** `topic/partition/offset code`. */
  readonly deadLetters: ReadonlySet<string>
  readonly answers: ReadonlyMap<string, unknown>
  /** Command id → where it was folded first, and what that said. */
  readonly answered: ReadonlyMap<string, { readonly offset: number; readonly answer: unknown }>
  /** Every event that was taken, in order. */
  readonly taken: readonly TakenEvent[]
  /** Key → its count behind each entry that changed it, by offset. */
  readonly history: ReadonlyMap<string, readonly (readonly [offset: number, count: number])[]>
  readonly armed: ReadonlySet<string>
  readonly owed: ReadonlySet<string>
  /** `partition key` of events that must come up in a journal, each once by source position. */
  readonly sends: readonly string[]
  /** Of the rows, as `StoreDigest.rows` and `.withoutPositions` give it. */
  readonly digest: string
  readonly digestWithoutPositions: string
}

export interface TakenEvent {
  readonly offset: number
  readonly index: number
  readonly timestamp: number
  readonly source: SourcePosition
  readonly key: string
  readonly mode: string
}

const OUTPUT_IDS = '4d1f2b1e-6d0c-5c53-9d5a-0f2f1d7c8a11'
const codec = blockCodec(countingProcessor.events)

export function countingModel(
  journal: string,
  partition: number,
  partitions: number,
  records: readonly LogRecord[],
): CountingModel {
  const rows = new Map<string, CountRow>()
  let total = 0
  const taken = new Map<string, readonly [offset: number, index: number]>()
  const outputs = new Map<string, string>()
  const notices = new Map<string, string>()
  const deadLetters = new Set<string>()
  const answers = new Map<string, unknown>()
  const answered = new Map<string, { offset: number; answer: unknown }>()
  const takenEvents: TakenEvent[] = []
  const history = new Map<string, [offset: number, count: number][]>()
  const armed = new Set<string>()
  const owed = new Set<string>()
  const sends: string[] = []
  let time = 0
  let epoch = 0

  const letter = (entry: EventEntry, offset: number, code: string): void => {
    const source = /^(.+)@/.exec(entry.source.source)?.[1]
    const place =
      entry.original === undefined && source !== undefined
        ? `${source}/${entry.source.offset}`
        : `${journal}/${partition}/${offset}`
    deadLetters.add(`${place} ${code}`)
  }

  const count = (entry: EventEntry, offset: number, index: number): void => {
    const { key, mode } = (entry.event as Counted).data
    if (mode === 'fail' || mode === 'undeclared') {
      letter(entry, offset, 'FOLD_FAILED')
      return
    }
    const before = rows.get(key) ?? { count: 0, woken: 0, lastOffset: -1, due: 0 }
    let surveyed = 0
    if (mode === 'survey') {
      const ordered = [...rows].map(
        ([name, row]) => [`${String(row.count).padStart(8, '0')}\u0000${name}`, row] as const,
      )
      ordered.sort(([a], [b]) => Buffer.from(a).compare(Buffer.from(b)))
      for (const [, row] of ordered.slice(0, SURVEYED)) surveyed += row.count
    }
    const row = { ...before, count: before.count + 1 + surveyed, lastOffset: offset }
    total++
    outputs.set(
      uuidV5(`${journal}/${partition}/${offset}/${index}/0`, OUTPUT_IDS),
      JSON.stringify({ key, count: row.count }),
    )
    if (mode === 'once') {
      notices.set(uuidV5(`${journal}/${partition}/${offset}/${index}/1`, OUTPUT_IDS), String(row.count))
    }
    if (mode === 'timer') {
      armed.add(`${time + WAKE_AFTER_MS} wake/${key}`)
      row.due = time + WAKE_AFTER_MS
    }
    if (mode === 'cancel') {
      armed.delete(`${row.due} wake/${key}`)
      row.due = 0
    }
    if (mode === 'delete') rows.delete(key)
    else rows.set(key, row)
    const changes = history.get(key) ?? []
    changes.push([offset, rows.get(key)?.count ?? 0])
    history.set(key, changes)
    if (mode === 'send') sends.push(`${partitionOf(`${key}-sent`, partitions)} ${key}-sent`)
    if (mode === 'broadcast') for (let p = 0; p < partitions; p++) sends.push(`${p} ${key}-everywhere`)
    if (mode === 'deadLetter') letter(entry, offset, 'NOT_WANTED')
    if (mode === 'request') owed.add(`${offset}/${index}`)
    if (entry.commandId !== undefined) {
      const answer = { key, count: row.count }
      answers.set(entry.commandId, answer)
      if (!answered.has(entry.commandId)) answered.set(entry.commandId, { offset, answer })
      armed.add(`${time + 600_000} $answer/${entry.commandId}`)
    }
  }

  const fold = (entry: JournalEntry, offset: number, index: number, timestamp: number): void => {
    const last = taken.get(entry.source.source) ?? [-1, -1]
    if (entry.source.offset < last[0] || (entry.source.offset === last[0] && entry.source.index <= last[1])) return
    taken.set(entry.source.source, [entry.source.offset, entry.source.index])
    if (entry.kind === 'owner') {
      epoch = Math.max(epoch, entry.epoch)
    } else if (entry.kind === 'timer') {
      const deadline = `${entry.due} ${entry.id}`
      if (entry.epoch < epoch || entry.due > time || !armed.delete(deadline)) return
      const key = entry.id.slice(entry.id.indexOf('/') + 1)
      const row = rows.get(key)
      if (entry.id.startsWith('$answer/')) answers.delete(key)
      else if (row !== undefined) rows.set(key, { ...row, woken: row.woken + 1 })
    } else {
      if (entry.commandId !== undefined && answers.has(entry.commandId)) return
      if (entry.effectId !== undefined && !owed.delete(entry.effectId)) return
      const { key, mode } = (entry.event as Counted).data
      takenEvents.push({ offset, index, timestamp, source: entry.source, key, mode })
      count(entry, offset, index)
    }
  }

  for (const { offset, timestamp, value } of records) {
    for (const [index, entry] of codec.decode(value ?? Buffer.alloc(0)).entries()) {
      time = Math.max(time, timestamp)
      fold(entry, offset, index, timestamp)
    }
  }

  const digest = createStoreDigest()
  for (const { table, prefix } of tableRuntimes(countingProcessor.tables)) {
    if (table.name === counts.name) {
      for (const [key, row] of rows) digest.add(Buffer.from(prefix + key), counts.codec.encode(row))
    } else if (table.name === totals.name && total > 0) {
      digest.add(Buffer.from(`${prefix}all`), totals.codec.encode({ total }))
    }
  }
  return {
    counts: rows,
    outputs,
    notices,
    deadLetters,
    answers,
    answered,
    taken: takenEvents,
    history,
    armed,
    owed,
    sends,
    digest: digest.rows.toHex(),
    digestWithoutPositions: digest.withoutPositions.toHex(),
  }
}
