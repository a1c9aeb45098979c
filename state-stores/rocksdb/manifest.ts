import type { LiveTable } from './verify-tables.js'

/** What a MANIFEST says of a store. */
export interface Manifest {
  /** The last log number: older write-ahead logs are not needed. Undefined: it names none. */
  readonly logNumber: number | undefined
  /** Tables that belong to the store. */
  readonly tables: readonly LiveTable[]
}

/** Format: RocksDB 6's version edits (db/version_edit.h) in log records (db/log_format.h). Reads as far as it can be read. */
export function readManifest(manifest: Buffer): Manifest {
  const tables = new Map<number, LiveTable>()
  let logNumber: number | undefined
  try {
    for (const edit of readRecords(manifest)) logNumber = readEdit(edit, tables) ?? logNumber
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  return { logNumber, tables: [...tables.values()] }
}

const blockBytes = 32 * 1024
const headerBytes = 7
const recordType = { full: 1, first: 2, middle: 3, last: 4 }

/** The whole records up to the first that is cut; a header is checksum (4), length (2), type (1). */
function* readRecords(log: Buffer): Generator<Buffer, void> {
  let parts: Buffer[] = []
  for (let at = 0; at + headerBytes <= log.length;) {
    const blockLeft = blockBytes - (at % blockBytes)
    if (blockLeft < headerBytes) {
      at += blockLeft
      continue
    }
    const end = at + headerBytes + log.readUInt16LE(at + 4)
    const type = log.readUInt8(at + 6)
    if (end > log.length || type < recordType.full || type > recordType.last) return
    if (type === recordType.full || type === recordType.first) parts = []
    parts.push(log.subarray(at + headerBytes, end))
    if (type === recordType.full || type === recordType.last) yield Buffer.concat(parts)
    at = end
  }
}

/** Reads the fields of a version edit up to one it does not know; answers its log number. Throws RangeError at a cut field. */
function readEdit(edit: Buffer, tables: Map<number, LiveTable>): number | undefined {
  let at = 0
  let logNumber: number | undefined
  const varint = (): number => {
    let value = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = edit.readUInt8(at++)
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
    }
  }
  const skipVarints = (count: number): void => {
    for (let i = 0; i < count; i++) varint()
  }
  const skipText = (): void => {
    const length = varint()
    at += length
  }

  while (at < edit.length) {
    const tag = varint()
    if (tag === 2) logNumber = varint()
    else if (tag === 1)
      skipText() // comparator
    else if (tag === 3 || tag === 4 || tag === 9 || tag === 10)
      skipVarints(1) // counters
    else if (tag === 6) {
      // Deleted file: level, number.
      skipVarints(1)
      tables.delete(varint())
    } else if (tag === 103) {
      // New file: level, number, size; smallest and largest key; their sequence numbers; tagged fields up to tag 1.
      skipVarints(1)
      const [number, bytes] = [varint(), varint()]
      tables.set(number, { number, bytes })
      skipText()
      skipText()
      skipVarints(2)
      while (varint() !== 1) skipText()
    } else return logNumber
  }
  return logNumber
}
