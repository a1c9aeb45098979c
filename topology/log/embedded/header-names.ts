import type { RecordReader } from './record-codec.js'
import { varintBytes, writeVarint } from './varint.js'

/** The header names of one batch: each is stored once, in front of the records, which refer to it by number. */
export class HeaderNames {
  readonly #numbers = new Map<string, number>()
  readonly #lengths: number[] = []
  #textBytes = 0
  /** Names of the record before by place, and their numbers: mostly the next record has the same. */
  readonly #lastNames: string[] = []
  readonly #lastNumbers: number[] = []

  /** The number of the name that stands at `place` in its record; a new one is added. */
  add(name: string, place: number): number {
    if (this.#lastNames[place] === name) return this.#lastNumbers[place] as number
    const number = this.#numberOf(name)
    this.#lastNames[place] = name
    this.#lastNumbers[place] = number
    return number
  }

  /** UTF-8 bytes of a name. */
  lengthOf(number: number): number {
    return this.#lengths[number] ?? 0
  }

  get encodedBytes(): number {
    return varintBytes(this.#lengths.length) + this.#textBytes
  }

  write(out: Buffer, from: number): number {
    let at = writeVarint(out, from, this.#lengths.length)
    for (const [name, number] of this.#numbers) {
      at = writeVarint(out, at, this.lengthOf(number))
      at += out.write(name, at)
    }
    return at
  }

  #numberOf(name: string): number {
    const known = this.#numbers.get(name)
    if (known !== undefined) return known
    const bytes = Buffer.byteLength(name)
    this.#textBytes += varintBytes(bytes) + bytes
    this.#numbers.set(name, this.#lengths.length)
    return this.#lengths.push(bytes) - 1
  }
}

/** Names of batches read before, by their bytes: nearly all batches of a topic have the same. */
const known = new Map<string, readonly string[]>()
const MOST_KNOWN = 1000
const MOST_KNOWN_BYTES = 1000

/** Goes behind what `readHeaderNames` would read. */
export function skipHeaderNames(reader: RecordReader): void {
  for (let left = reader.varint(); left > 0; left--) reader.skip(reader.varint())
}

/** The names in front of a batch's records; the same object for the same names. */
export function readHeaderNames(reader: RecordReader): readonly string[] {
  const from = reader.at
  skipHeaderNames(reader)
  const bytes = reader.latin1From(from)
  let names = known.get(bytes)
  if (names === undefined) {
    reader.at = from
    names = Array.from({ length: reader.varint() }, () => reader.bytes(reader.varint()).toString())
    if (known.size === MOST_KNOWN) known.clear()
    if (bytes.length <= MOST_KNOWN_BYTES) known.set(bytes, names)
  }
  return names
}
