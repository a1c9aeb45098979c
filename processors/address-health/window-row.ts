import type { RowCodec } from '../../schemas/avro.js'

/**
 * One window of one address: when it ends, and an entry for each call counted in it, with the ids by which a repeat is known.
 * A row is never changed: `counted` answers a new one. Windows of one line of descent share their bytes, of which each sees
 * its own first part, so that counting a call costs the same however many were before.
 *
 * Layout, in slots of 8 bytes: a head [end, 6 bytes][1: closed][0], then for each call its id and its event's id, 53 bits
 * [low 32][high 21, failed], the last byte 0: as a row's last byte must be, which tells the length of its positions.
 */
export interface WindowRow {
  /** Journal time, ms. */
  readonly end: number
  /** It was judged, or ended without being judged: its counts are done with, only its ids are looked at. */
  readonly isClosed: boolean
  readonly calls: number
  readonly failed: number
  readonly ids: Ids
}

/** What the windows of one line share. Bytes and places beyond a row's own length are a later row's. */
class Ids {
  bytes: Buffer
  /** Slots by hash, open addressing: 0 is free. Made when first looked at. */
  places: Int32Array | undefined
  /** Places that are not free. */
  placed = 0

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  /** Where a row is shown: the hashes themselves say nothing to people. */
  toJSON(): string {
    return 'hashes'
  }
}

const SLOT = 8
const CALL = 2 * SLOT
const FIRST_CALLS = 6

export function emptyWindow(end: number): WindowRow {
  const bytes = Buffer.alloc(SLOT + FIRST_CALLS * CALL)
  bytes.writeUIntLE(end, 0, 6)
  return { end, isClosed: false, calls: 0, failed: 0, ids: new Ids(bytes) }
}

/** Whether a call with this id, or an event with this one, was counted in the window. */
export function hasCounted(row: WindowRow, callHash: number, eventHash: number): boolean {
  if (row.calls === 0) return false
  return findSlot(row, callHash) || findSlot(row, eventHash)
}

/** The window with one more call. */
export function counted(row: WindowRow, isFailure: boolean, callHash: number, eventHash: number): WindowRow {
  const { ids } = row
  const length = lengthOf(row)
  if (length + CALL > ids.bytes.length) {
    const larger = Buffer.alloc(SLOT + Math.max(FIRST_CALLS * CALL, 2 * (length - SLOT)))
    ids.bytes.copy(larger, 0, 0, length)
    // Not in place: rows before this one go on seeing the bytes they had.
    ids.bytes = larger
  }
  writeSlot(ids.bytes, length, callHash, isFailure)
  writeSlot(ids.bytes, length + SLOT, eventHash, false)
  const { end, isClosed } = row
  const after = { end, isClosed, calls: row.calls + 1, failed: row.failed + (isFailure ? 1 : 0), ids }
  if (ids.places !== undefined) {
    if (2 * (ids.placed + 2) > ids.places.length) {
      placeAll(after)
    } else {
      place(ids, ids.places, length)
      place(ids, ids.places, length + SLOT)
    }
  }
  return after
}

/** The window with its counts done with; its ids stay. It ends at `end` when that is earlier. */
export function closedWindow(row: WindowRow, end: number): WindowRow {
  const earlier = Math.min(row.end, end)
  const bytes = Buffer.from(row.ids.bytes.subarray(0, lengthOf(row)))
  bytes.writeUIntLE(earlier, 0, 6)
  bytes[6] = 1
  return { ...row, end: earlier, isClosed: true, ids: new Ids(bytes) }
}

export const windowCodec: RowCodec<WindowRow> = {
  encode: (row) => row.ids.bytes.subarray(0, lengthOf(row)),
  // Nothing in it can be wrong.
  check: () => undefined,
  decode(bytes) {
    if (bytes.length % CALL !== SLOT || bytes.at(-1) !== 0) throw new RangeError(`${bytes.length} bytes are no window`)
    const calls = (bytes.length - SLOT) / CALL
    let failed = 0
    for (let call = 0; call < calls; call++) failed += (bytes[SLOT + call * CALL + SLOT / 2] ?? 0) & 1
    // A copy of its own: the store's buffer may be a part of a larger one.
    const ids = new Ids(Buffer.from(bytes))
    return { end: bytes.readUIntLE(0, 6), isClosed: bytes[6] === 1, calls, failed, ids }
  },
}

function lengthOf({ calls }: WindowRow): number {
  return SLOT + calls * CALL
}

const TWO_POW_32 = 0x1_0000_0000

function writeSlot(bytes: Buffer, at: number, hash: number, isFailure: boolean): void {
  bytes.writeUInt32LE(hash >>> 0, at)
  bytes.writeUInt32LE(Math.floor(hash / TWO_POW_32) * 2 + (isFailure ? 1 : 0), at + 4)
}

/** The hash that stands in a slot. */
function hashAt(bytes: Buffer, at: number): number {
  return (bytes.readUInt32LE(at + 4) >>> 1) * TWO_POW_32 + bytes.readUInt32LE(at)
}

function findSlot(row: WindowRow, hash: number): boolean {
  const { ids } = row
  const places = ids.places ?? placeAll(row)
  const slots = lengthOf(row) / SLOT
  const mask = places.length - 1
  for (let at = hash & mask; ; at = (at + 1) & mask) {
    const slot = places[at] ?? 0
    if (slot === 0) return false
    if (slot < slots && hashAt(ids.bytes, slot * SLOT) === hash) return true
  }
}

/** Makes the places anew, at most a quarter full. */
function placeAll(row: WindowRow): Int32Array {
  const { ids } = row
  const places = new Int32Array(2 ** Math.ceil(Math.log2((4 * lengthOf(row)) / SLOT)))
  ids.places = places
  ids.placed = 0
  for (let at = SLOT; at < lengthOf(row); at += SLOT) place(ids, places, at)
  return places
}

function place(ids: Ids, places: Int32Array, at: number): void {
  const mask = places.length - 1
  let free = hashAt(ids.bytes, at) & mask
  while (places[free] !== 0) free = (free + 1) & mask
  places[free] = at / SLOT
  ids.placed++
}
