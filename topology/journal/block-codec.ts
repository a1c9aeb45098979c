import { crc32 } from 'node:zlib'
import { AvroReader, AvroWriter } from '../../schemas/avro-bytes.js'
import type { AvroRecordSchema } from '../../schemas/avro.js'
import { cut, ensureError } from '../../common/errors.js'
import { EngineError } from '../errors.js'
import { entryTypes, readEntry, skipEntry, writeEntry } from './block-entry.js'
import type { EntryTypes } from './block-entry.js'
import type { JournalEntry } from './entry.js'

/**
 * A journal record carries a block of entries: appending a record costs a Kafka client far more than reading one.
 * Layout: one byte format version, the CRC-32 of the rest, then Avro (`block-schema.ts`). Sources are named once a block.
 */
export interface BlockCodec {
  encode(entries: readonly JournalEntry[]): Buffer
  /** A block made entry by entry, none of which is held. */
  builder(): BlockBuilder
  /** Errors: BLOCK_UNREADABLE. */
  readonly decode: (block: Buffer) => JournalEntry[]
  /**
   * The same for who goes over them once and waits on the way: after a look whether all can be read, those of a long block are
   * made one by one, so that they do not outlive collections of garbage meanwhile. Errors: BLOCK_UNREADABLE.
   */
  readonly decodeLazily: (block: Buffer) => Iterable<JournalEntry>
}

export interface BlockBuilder {
  /** How many it has. */
  readonly entries: number
  /** Of the block as it is now, but for the names of its sources. */
  readonly bytes: number
  /** Throws, and leaves the block as it was, where the entry does not fit its schema. */
  add(entry: JournalEntry): void
  finish(): Buffer
}

const FORMAT_VERSION = 2
const HEADER_BYTES = 5
/** The entries of so many bytes are held decoded. */
const FEW_BYTES = 16 * 1024

/** The codec of a domain's journal; `events` are its Avro records by type. */
export function blockCodec(events: Readonly<Record<string, AvroRecordSchema>>): BlockCodec {
  const types = entryTypes(events)
  return {
    encode(entries) {
      const builder = new Builder(types)
      for (const entry of entries) builder.add(entry)
      return builder.finish()
    },
    builder: () => new Builder(types),
    decode: (bytes) => readBlock(bytes, types),
    decodeLazily(bytes) {
      if (bytes.length <= FEW_BYTES) return readBlock(bytes, types)
      checked(bytes, (from, sources) => from.skipArray(() => skipEntry(from, sources, types)))
      return { [Symbol.iterator]: () => entriesOf(bytes, types) }
    },
  }
}

function readBlock(bytes: Buffer, types: EntryTypes): JournalEntry[] {
  return checked(bytes, (from, sources) => from.array(() => readEntry(from, sources, types)))
}

/** What `read` makes of the entries of a block. Errors: BLOCK_UNREADABLE. */
function checked<Result>(bytes: Buffer, read: (from: AvroReader, sources: readonly string[]) => Result): Result {
  if (bytes[0] !== FORMAT_VERSION) {
    throw unreadable(`has format version ${cut(bytes[0])}, not ${FORMAT_VERSION}`)
  }
  if (bytes.length < HEADER_BYTES || crc32(bytes.subarray(HEADER_BYTES)) !== bytes.readUInt32LE(1)) {
    throw unreadable('has another checksum')
  }
  try {
    const from = new AvroReader(bytes, HEADER_BYTES)
    const sources = from.array(() => from.string(''))
    const result = read(from, sources)
    if (from.left > 0) throw new RangeError(`${from.left} bytes are left`)
    return result
  } catch (thrown) {
    throw unreadable(`does not fit its schema: ${cut(ensureError(thrown).message)}`, thrown)
  }
}

/** Of a block that can be read. */
function* entriesOf(bytes: Buffer, types: EntryTypes): Generator<JournalEntry> {
  const from = new AvroReader(bytes, HEADER_BYTES)
  const sources = from.array(() => from.string(''))
  for (let count = from.count(); count > 0; count = from.count()) {
    for (let left = count; left > 0; left--) yield readEntry(from, sources, types)
  }
}

function unreadable(why: string, cause?: unknown): EngineError {
  return new EngineError('BLOCK_UNREADABLE', `journal block ${why}`, cause === undefined ? {} : { cause })
}

class Builder implements BlockBuilder {
  readonly #types: EntryTypes
  readonly #out = new AvroWriter()
  readonly #sources: string[] = []
  #lastSource = -1
  #entries = 0

  constructor(types: EntryTypes) {
    this.#types = types
  }

  get entries(): number {
    return this.#entries
  }

  get bytes(): number {
    return HEADER_BYTES + this.#out.length
  }

  add(entry: JournalEntry): void {
    const before = this.#out.length
    try {
      writeEntry(this.#out, entry, this.#numberOf(entry.source.source), this.#types)
    } catch (thrown) {
      this.#out.cutTo(before)
      throw thrown
    }
    this.#entries++
  }

  finish(): Buffer {
    const sources = new AvroWriter(128)
    if (this.#sources.length > 0) sources.long(this.#sources.length)
    for (const source of this.#sources) sources.string(source)
    sources.long(0)
    if (this.#entries > 0) sources.long(this.#entries)
    this.#out.long(0)
    const block = Buffer.allocUnsafe(HEADER_BYTES + sources.length + this.#out.length)
    block[0] = FORMAT_VERSION
    block.set(sources.bytes(), HEADER_BYTES)
    block.set(this.#out.bytes(), HEADER_BYTES + sources.length)
    block.writeUInt32LE(crc32(block.subarray(HEADER_BYTES)), 1)
    return block
  }

  #numberOf(source: string): number {
    if (this.#sources[this.#lastSource] === source) return this.#lastSource
    this.#lastSource = this.#sources.indexOf(source)
    if (this.#lastSource < 0) this.#lastSource = this.#sources.push(source) - 1
    return this.#lastSource
  }
}
