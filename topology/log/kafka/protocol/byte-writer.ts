const two32 = 2 ** 32

/** Bytes of a zigzag varint. */
export function varintLength(value: number): number {
  let length = 1
  for (let rest = value >= 0 ? value * 2 : -value * 2 - 1; rest >= 0x80; rest = Math.floor(rest / 0x80)) length++
  return length
}

/** Writes Kafka's wire types one after the other; grows as needed. */
export class ByteWriter {
  #buffer: Buffer
  #length = 0

  constructor(expectedBytes = 256) {
    this.#buffer = Buffer.allocUnsafe(expectedBytes)
  }

  get length(): number {
    return this.#length
  }

  /** What was written so far; it shares memory with the writer. */
  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length)
  }

  int8(value: number): this {
    const at = this.#room(1)
    this.#buffer.writeInt8(value, at)
    return this
  }

  int16(value: number): this {
    const at = this.#room(2)
    this.#buffer.writeInt16BE(value, at)
    return this
  }

  int32(value: number): this {
    const at = this.#room(4)
    this.#buffer.writeInt32BE(value, at)
    return this
  }

  /** Of a whole number that a double holds exactly. */
  int64(value: number): this {
    const at = this.#room(8)
    const high = Math.floor(value / two32)
    this.#buffer.writeInt32BE(high, at)
    this.#buffer.writeUInt32BE(value - high * two32, at + 4)
    return this
  }

  /** Overwrites at a place written before. */
  int32At(at: number, value: number): void {
    this.#buffer.writeInt32BE(value, at)
  }

  uint32At(at: number, value: number): void {
    this.#buffer.writeUInt32BE(value, at)
  }

  uvarint(value: number): this {
    let at = this.#room(10)
    let rest = value
    while (rest >= 0x80) {
      this.#buffer[at++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#buffer[at++] = rest
    this.#length = at
    return this
  }

  /** Zigzag: small numbers of either sign are short. */
  varint(value: number): this {
    return this.uvarint(value >= 0 ? value * 2 : -value * 2 - 1)
  }

  raw(bytes: Uint8Array): this {
    const at = this.#room(bytes.length)
    this.#buffer.set(bytes, at)
    return this
  }

  string(text: string): this {
    const bytes = Buffer.byteLength(text)
    this.int16(bytes)
    const at = this.#room(bytes)
    this.#buffer.write(text, at)
    return this
  }

  nullableString(text: string | null): this {
    return text === null ? this.int16(-1) : this.string(text)
  }

  /** As flexible versions have it: the length plus one as varint. */
  compactString(text: string): this {
    const bytes = Buffer.byteLength(text)
    this.uvarint(bytes + 1)
    const at = this.#room(bytes)
    this.#buffer.write(text, at)
    return this
  }

  varintBytes(bytes: Uint8Array | null): this {
    if (bytes === null) return this.varint(-1)
    return this.varint(bytes.length).raw(bytes)
  }

  #room(bytes: number): number {
    const at = this.#length
    const needed = at + bytes
    if (needed > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2))
      this.#buffer.copy(larger, 0, 0, at)
      this.#buffer = larger
    }
    this.#length = needed
    return at
  }
}
