/**
 * The last log number in a MANIFEST: older write-ahead logs are not needed. Undefined when it names none.
 * Format: RocksDB 6's version edits (db/version_edit.h) in log records (db/log_format.h).
 */
export function lastLogNumber(manifest: Buffer): number | undefined {
  let logNumber: number | undefined
  try {
    for (const edit of readRecords(manifest)) logNumber = logNumberOf(edit) ?? logNumber
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  return logNumber
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

/** Reads the fields of a version edit up to one it does not know. Throws RangeError at a cut field. */
function logNumberOf(edit: Buffer): number | undefined {
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
    else if (tag === 6)
      skipVarints(2) // deleted file: level, number
    else if (tag === 103) {
      // New file: level, number, size; smallest and largest key; their sequence numbers; tagged fields up to tag 1.
      skipVarints(3)
      skipText()
      skipText()
      skipVarints(2)
      while (varint() !== 1) skipText()
    } else return logNumber
  }
  return logNumber
}
