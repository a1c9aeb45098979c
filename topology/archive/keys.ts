import { AvroReader } from '../../schemas/avro-bytes.js'
import { avroType } from '../../schemas/avro.js'

/** Store keys of the rows that change in a segment, and of those the ones that matter to a subject's state in short. */
export interface SegmentKeys {
  readonly changed: readonly string[]
  readonly decisive: readonly string[]
}

export type KeyKind = keyof SegmentKeys

/** In which of some segments rows change: a bit for each, the lowest for the first. */
export type SegmentBits = Record<KeyKind, number>

/** Segments whose keys are merged into one file; a number has bits for twice as many. */
export const MERGED_SEGMENTS = 16

const kinds = ['changed', 'decisive'] as const
const keysType = avroType({
  type: 'record',
  name: 'Keys',
  fields: kinds.map((name) => ({ name, type: { type: 'array', items: 'string' } })),
})
const mergedKeysType = avroType({
  type: 'array',
  items: {
    type: 'record',
    name: 'MergedKey',
    fields: [{ name: 'key', type: 'string' }, ...kinds.map((name) => ({ name, type: 'int' }))],
  },
})

export function encodeKeys(keys: SegmentKeys): Buffer {
  return keysType.toBuffer(keys)
}

/** One file of the keys of at most `MERGED_SEGMENTS` segments: each key once, in order, with its segments. */
export function mergeKeys(segments: readonly Buffer[]): Buffer {
  const merged = new Map<string, SegmentBits>()
  for (const [i, bytes] of segments.entries()) {
    const keys = keysType.fromBuffer(bytes) as SegmentKeys
    for (const kind of kinds) {
      for (const key of keys[kind]) {
        const bits = merged.get(key) ?? { changed: 0, decisive: 0 }
        bits[kind] |= 1 << i
        merged.set(key, bits)
      }
    }
  }
  const sorted = [...merged].sort(([a], [b]) => (a < b ? -1 : 1))
  return mergedKeysType.toBuffer(sorted.map(([key, bits]) => ({ key, ...bits })))
}

/** Whether a segment's keys have one of these, without making texts of all the others. */
export function hasKey(bytes: Buffer, kind: KeyKind, keys: readonly string[]): boolean {
  const reader = new AvroReader(bytes)
  const isWanted = wantedKeys(bytes, reader, keys)
  for (const field of kinds) {
    let isThere = false
    for (const _ of itemsOf(reader)) isThere = isWanted() || isThere
    if (field === kind) return isThere
  }
  return false
}

/** In which segments one of these keys is, by merged keys. */
export function findMerged(bytes: Buffer, keys: readonly string[]): SegmentBits {
  const reader = new AvroReader(bytes)
  const isWanted = wantedKeys(bytes, reader, keys)
  const found = { changed: 0, decisive: 0 }
  for (const _ of itemsOf(reader)) {
    const isOne = isWanted()
    for (const kind of kinds) {
      const bits = reader.long()
      if (isOne) found[kind] |= bits
    }
  }
  return found
}

/** Counts the items of an Avro array, which the caller reads. */
function* itemsOf(reader: AvroReader): Generator<void> {
  for (let count = reader.long(); count > 0; count = reader.long()) {
    for (let left = count; left > 0; left--) yield
  }
}

/** Reads a key; whether it is one of those given. */
function wantedKeys(bytes: Buffer, reader: AvroReader, keys: readonly string[]): () => boolean {
  const wanted = keys.map((key) => Buffer.from(key))
  return () => {
    const length = reader.length()
    const [from, to] = [reader.at, reader.at + length]
    reader.moveTo(to)
    return wanted.some((key) => key.length === length && key.compare(bytes, from, to) === 0)
  }
}
