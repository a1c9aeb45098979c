import { hash } from 'node:crypto'
import { ReusedBytes } from '../common/reused-bytes.js'

export const digestBuckets = 16
const lanes = 16
const laneBytes = 4
/** Bytes of a serialized digest. */
export const digestBytes = digestBuckets * lanes * laneBytes

/**
 * The sum, modulo 2^512, of one SHA-512 a row, kept apart in 16 buckets of keys. A put or delete updates it in constant
 * time and in any order; equal digests mean equal rows. A row is (length of the key, key, value); its bucket depends on
 * the key alone, so two stores that differ show which sixteenth of the keys to compare.
 */
export interface Digest {
  add(key: Buffer, value: Buffer): void
  /** Takes back what `add` did with the same key and value. */
  remove(key: Buffer, value: Buffer): void
  equals(other: Digest): boolean
  /** 64 hex digits: SHA-256 over the sum. */
  toHex(): string
  /** The same of one bucket, 0 to 15. */
  bucketHex(bucket: number): string
  /** `digestBytes` bytes, for `deserializeDigest`. */
  serialize(): Buffer
}

/**
 * Two digests of the same rows. Values are laid out as [body][positions][1 byte: length of the positions]: `rows` covers
 * all of it, `withoutPositions` the body only, so that two sites with different journals can be compared.
 */
export interface StoreDigest {
  readonly rows: Digest
  readonly withoutPositions: Digest
  add(key: Buffer, value: Buffer): void
  remove(key: Buffer, value: Buffer): void
  /** Twice `digestBytes` bytes, for `deserializeStoreDigest`. */
  serialize(): Buffer
}

export function createDigest(): Digest {
  return digestOver(new Uint32Array(digestBuckets * lanes))
}

/** Throws RangeError for bytes of another length. */
export function deserializeDigest(bytes: Buffer): Digest {
  return digestOver(deserializeSums(bytes))
}

export function createStoreDigest(): StoreDigest {
  return storeDigestOver(new Uint32Array(digestBuckets * lanes), new Uint32Array(digestBuckets * lanes))
}

/** Throws RangeError for bytes of another length. */
export function deserializeStoreDigest(bytes: Buffer): StoreDigest {
  return storeDigestOver(deserializeSums(bytes.subarray(0, digestBytes)), deserializeSums(bytes.subarray(digestBytes)))
}

/** The value without its positions; all of it when it does not end as such values do. */
export function withoutPositions(value: Buffer): Buffer {
  return value.subarray(0, bodyLength(value))
}

/** The bucket of a key: the upper four bits of FNV-1a, mixed, since the last characters hardly reach those. */
export function digestBucket(key: Buffer): number {
  let state = 0x811c9dc5
  for (let i = 0; i < key.length; i++) state = Math.imul(state ^ (key[i] ?? 0), 0x01000193)
  return Math.imul(state ^ (state >>> 15), 0x85ebca6b) >>> 28
}

function digestOver(sums: Uint32Array): Digest {
  const buckets = bucketsOf(sums)
  return {
    add: (key, value) => addLanes(bucketOf(buckets, key), hashRow(fillRow(key, value))),
    remove: (key, value) => subtractLanes(bucketOf(buckets, key), hashRow(fillRow(key, value))),
    equals: (other) => serializeSums(sums).equals(other.serialize()),
    toHex() {
      const total = new Uint32Array(lanes)
      for (const bucket of buckets) addLanes(total, bucket)
      return hash('sha256', serializeSums(total), 'hex')
    },
    bucketHex: (bucket) => hash('sha256', serializeSums(bucketAt(buckets, bucket)), 'hex'),
    serialize: () => serializeSums(sums),
  }
}

function storeDigestOver(rowSums: Uint32Array, bodySums: Uint32Array): StoreDigest {
  const rowBuckets = bucketsOf(rowSums)
  const bodyBuckets = bucketsOf(bodySums)
  const change = (key: Buffer, value: Buffer, apply: typeof addLanes): void => {
    const bucket = digestBucket(key)
    const length = fillRow(key, value)
    apply(bucketAt(rowBuckets, bucket), hashRow(length))
    apply(bucketAt(bodyBuckets, bucket), hashRow(length - value.length + bodyLength(value)))
  }
  return {
    rows: digestOver(rowSums),
    withoutPositions: digestOver(bodySums),
    add: (key, value) => change(key, value, addLanes),
    remove: (key, value) => change(key, value, subtractLanes),
    serialize: () => Buffer.concat([serializeSums(rowSums), serializeSums(bodySums)]),
  }
}

/** [length of key, 4 bytes][key][value]. */
const hashed = new ReusedBytes()
const hashLanes = new Uint32Array(lanes)

/** Answers the length of the row now in `hashed`. */
function fillRow(key: Buffer, value: Buffer): number {
  const length = 4 + key.length + value.length
  const row = hashed.room(length)
  row.writeUInt32LE(key.length, 0)
  key.copy(row, 4)
  value.copy(row, 4 + key.length)
  return length
}

/** The lanes of the SHA-512 of the first `length` bytes of `hashed`; the same array each time. */
function hashRow(length: number): Uint32Array {
  // As a latin1 string ('binary'): a third of what a Buffer costs.
  const text = hash('sha512', hashed.head(length), 'binary')
  for (let lane = 0, at = 0; lane < lanes; lane++, at += laneBytes) {
    hashLanes[lane] =
      text.charCodeAt(at) |
      (text.charCodeAt(at + 1) << 8) |
      (text.charCodeAt(at + 2) << 16) |
      (text.charCodeAt(at + 3) << 24)
  }
  return hashLanes
}

function addLanes(sum: Uint32Array, other: Uint32Array): void {
  let carry = 0
  for (let lane = 0; lane < lanes; lane++) {
    const result = (sum[lane] ?? 0) + (other[lane] ?? 0) + carry
    sum[lane] = result
    carry = result > 0xffff_ffff ? 1 : 0
  }
}

function subtractLanes(sum: Uint32Array, other: Uint32Array): void {
  let borrow = 0
  for (let lane = 0; lane < lanes; lane++) {
    const result = (sum[lane] ?? 0) - (other[lane] ?? 0) - borrow
    sum[lane] = result
    borrow = result < 0 ? 1 : 0
  }
}

function bucketsOf(sums: Uint32Array): readonly Uint32Array[] {
  return Array.from({ length: digestBuckets }, (_, bucket) => sums.subarray(bucket * lanes, (bucket + 1) * lanes))
}

function bucketOf(buckets: readonly Uint32Array[], key: Buffer): Uint32Array {
  return bucketAt(buckets, digestBucket(key))
}

function bucketAt(buckets: readonly Uint32Array[], bucket: number): Uint32Array {
  const sum = buckets[bucket]
  if (sum === undefined) throw new RangeError(`a digest has no bucket ${bucket}`)
  return sum
}

function bodyLength(value: Buffer): number {
  const length = value.length - 1 - (value[value.length - 1] ?? 0)
  return length < 0 ? value.length : length
}

function serializeSums(sums: Uint32Array): Buffer {
  const bytes = Buffer.alloc(sums.length * laneBytes)
  sums.forEach((lane, index) => bytes.writeUInt32LE(lane, index * laneBytes))
  return bytes
}

function deserializeSums(bytes: Buffer): Uint32Array {
  if (bytes.length !== digestBytes) throw new RangeError(`a digest has ${digestBytes} bytes, not ${bytes.length}`)
  return Uint32Array.from({ length: digestBytes / laneBytes }, (_, index) => bytes.readUInt32LE(index * laneBytes))
}
