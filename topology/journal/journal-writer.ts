import type { Clock } from '../../common/clock.js'
import type { Log } from '../log/log.js'
import { textBytes } from '../../common/text-bytes.js'
import { MAX_RECORD_BYTES } from '../ingest/record-bytes.js'
import { OrderedQueue } from '../ordered-queue.js'
import type { EventPosition } from '../processor.js'
import type { BlockCodec } from './block-codec.js'
import type { EventEntry, JournalEntry, NewEntry } from './entry.js'
import { termOf } from './term.js'

/** Entries of one block: bounds what a reader must hold at once. */
const MAX_BLOCK_ENTRIES = 1000
const MAX_BLOCK_BYTES = 512 * 1024
/** Entries of one send: several blocks. */
const MAX_SEND_ENTRIES = 10_000
const RETRY_DELAY_MS = 200

export interface JournalWriterOptions {
  readonly log: Log
  readonly clock: Clock
  readonly topic: string
  readonly partition: number
  readonly codec: BlockCodec
  /** Source name of entries made by this process; unique for each process start. */
  readonly source: string
  /** What folds read of until the first owner has announced itself: with it the journal begins where nothing else does. */
  readonly firstTerm?: Parameters<typeof termOf>[0]
  readonly onRetry?: (error: Error) => void
}

/**
 * Appends to one journal partition, in order. Entries without a source are numbered here, in the order they will stand in
 * the log, so that the fold's deduplication by source position drops only true repeats.
 */
export interface JournalWriter {
  /** Tried until it is done or, where given, for `withinMs`; rejects then with LOG_UNAVAILABLE, and it may be done yet. */
  append(entries: readonly NewEntry[], withinMs?: number): Promise<EventPosition[]>
  /** For many entries, none of which is held. */
  collect(): JournalBlocks
  stop(): void
}

/** Entries that become blocks one by one. */
export interface JournalBlocks {
  /** Throws where the entry does not fit its schema; it is not among them then. */
  add(entry: EventEntry): void
  /** Appends what was added, once, as `JournalWriter.append` does. */
  append(): Promise<void>
}

/** An entry, or a block of several. */
type Sendable =
  { readonly entry: JournalEntry; readonly bytes: number } | { readonly block: Buffer; readonly bytes: number }

export function journalWriter(options: JournalWriterOptions): JournalWriter {
  const { log, topic, partition, codec, source, firstTerm } = options
  let next = 0
  let isBegun = firstTerm === undefined

  /**
   * What another instance takes in, or sends on, may come before the journal's first owner, who may still be starting: its
   * settings must not be missing then. A term of nobody, which any owner's follows.
   */
  async function beginning(items: readonly Sendable[]): Promise<readonly Buffer[]> {
    const [foremost] = items
    const isTerm = foremost !== undefined && 'entry' in foremost && foremost.entry.kind === 'owner'
    if (isBegun || firstTerm === undefined || isTerm) return []
    if ((await log.offsets({ topic, partition })).end > 0) return []
    const term = { epoch: 1, ...termOf(firstTerm), preloaded: false, instance: '' }
    // A source of its own: what is numbered already stands behind it.
    return [codec.encode([{ kind: 'owner', source: { source: `${source}/begin`, offset: 0, index: 0 }, ...term }])]
  }

  async function send(items: readonly Sendable[]): Promise<EventPosition[]> {
    const first = await beginning(items)
    const blocks = blocksOf(codec, items)
    const values = [...first, ...blocks.map(({ value }) => value)]
    const appended = await log.append(
      topic,
      partition,
      values.map((value) => ({ key: null, value })),
    )
    isBegun = true
    const baseOffset = appended.baseOffset + first.length
    return blocks.flatMap(({ items: places }, block) =>
      Array.from({ length: places }, (_, index) => ({ offset: baseOffset + block, index })),
    )
  }

  const queue = new OrderedQueue<Sendable, EventPosition[]>({
    clock: options.clock,
    send,
    maxItems: MAX_SEND_ENTRIES,
    maxBytes: 4 * MAX_BLOCK_BYTES,
    sizeOf: (item) => item.bytes,
    retryDelayMs: RETRY_DELAY_MS,
    ...(options.onRetry && { onRetry: options.onRetry }),
  })

  const numbered = (entry: NewEntry): JournalEntry => ({ ...entry, source: { source, offset: next++, index: 0 } })

  return {
    async append(entries, withinMs) {
      const items = entries.map((entry) => {
        return { entry: hasSource(entry) ? entry : numbered(entry), bytes: sizeOf(entry) }
      })
      const { result, first } = await queue.push(items, withinMs)
      return result.slice(first, first + items.length)
    },
    collect() {
      const blocks: Sendable[] = []
      let builder = codec.builder()
      const close = (): void => {
        const block = builder.finish()
        blocks.push({ block, bytes: block.length })
        builder = codec.builder()
      }
      return {
        add(entry) {
          const bytes = builder.bytes + sizeOf(entry)
          if (builder.entries > 0 && (builder.entries >= MAX_BLOCK_ENTRIES || bytes > MAX_BLOCK_BYTES)) close()
          builder.add(entry)
        },
        async append() {
          if (builder.entries > 0) close()
          if (blocks.length > 0) await queue.push(blocks)
        },
      }
    },
    stop: () => queue.stop(),
  }
}

function hasSource(entry: NewEntry): entry is EventEntry {
  return entry.kind === 'event' && entry.source !== undefined
}

/** A block as it goes to the log, and how many of the items it holds. */
interface Block {
  readonly value: Buffer
  readonly items: number
}

/** Entries go together in a block as far as their sizes are known. */
function blocksOf(codec: BlockCodec, items: readonly Sendable[]): Block[] {
  const blocks: Block[] = []
  let portion: JournalEntry[] = []
  let bytes = 0
  const close = (): void => {
    if (portion.length > 0) blocks.push(...encoded(codec, portion))
    portion = []
    bytes = 0
  }
  for (const item of items) {
    if ('block' in item) {
      close()
      blocks.push({ value: item.block, items: 1 })
      continue
    }
    if (portion.length >= MAX_BLOCK_ENTRIES || bytes + item.bytes > MAX_BLOCK_BYTES) close()
    portion.push(item.entry)
    bytes += item.bytes
  }
  close()
  return blocks
}

/** One block, or several where it came out larger than a log takes. */
function encoded(codec: BlockCodec, entries: readonly JournalEntry[]): Block[] {
  const value = codec.encode(entries)
  if (value.length <= MAX_RECORD_BYTES || entries.length === 1) return [{ value, items: entries.length }]
  const half = entries.length >> 1
  return [...encoded(codec, entries.slice(0, half)), ...encoded(codec, entries.slice(half))]
}

/** A rough size: only what can be large is counted. */
function sizeOf(entry: NewEntry): number {
  if (entry.kind !== 'event') return 200
  let bytes = 150
  if (entry.original !== undefined) {
    bytes += (entry.original.key?.length ?? 0) + (entry.original.value?.length ?? 0)
    for (const [name, value] of entry.original.headers) bytes += name.length + value.length
  }
  const data = entry.event.data as Readonly<Record<string, unknown>>
  for (const name in data) {
    const value = data[name]
    if (typeof value === 'string') bytes += value.length
    else if (typeof value === 'object' && value !== null) bytes += textBytes(value)
  }
  return bytes
}
