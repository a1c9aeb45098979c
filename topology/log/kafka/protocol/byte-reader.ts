const two32 = 2 ** 32

/** Reads Kafka's wire types one after the other. Reading beyond the end is a RangeError. */
export class ByteReader {
  readonly #buffer: Buffer
  #at = 0

  constructor(buffer: Buffer) {
    this.#buffer = buffer
  }

  get at(): number {
    return this.#at
  }

  get left(): number {
    return this.#buffer.length - this.#at
  }

  skip(bytes: number): void {
    this.#at += bytes
  }

  int8(): number {
    return this.#buffer.readInt8(this.#step(1))
  }

  int16(): number {
    return this.#buffer.readInt16BE(this.#step(2))
  }

  int32(): number {
    return this.#buffer.readInt32BE(this.#step(4))
  }

  uint32(): number {
    return this.#buffer.readUInt32BE(this.#step(4))
  }

  int64(): number {
    const at = this.#step(8)
    return this.#buffer.readInt32BE(at) * two32 + this.#buffer.readUInt32BE(at + 4)
  }

  uvarint(): number {
    let value = 0
    let factor = 1
    for (;;) {
      const byte = this.#buffer.readUInt8(this.#step(1))
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
      factor *= 0x80
    }
  }

  varint(): number {
    const value = this.uvarint()
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }

  /** Shares memory with what is read. */
  raw(bytes: number): Buffer {
    const from = this.#step(bytes)
    if (bytes < 0 || this.#at > this.#buffer.length) throw new RangeError(`${bytes} bytes at ${from} are not there`)
    return this.#buffer.subarray(from, this.#at)
  }

  string(): string {
    return this.raw(this.int16()).toString()
  }

  nullableString(): string | null {
    const bytes = this.int16()
    return bytes < 0 ? null : this.raw(bytes).toString()
  }

  compactString(): string {
    return this.raw(this.uvarint() - 1).toString()
  }

  compactNullableString(): string | null {
    const bytes = this.uvarint() - 1
    return bytes < 0 ? null : this.raw(bytes).toString()
  }

  varintBytes(): Buffer | null {
    const bytes = this.varint()
    return bytes < 0 ? null : this.raw(bytes)
  }

  array<T>(read: (reader: this) => T): T[] {
    return this.#items(this.int32(), read)
  }

  compactArray<T>(read: (reader: this) => T): T[] {
    return this.#items(this.uvarint() - 1, read)
  }

  /** Tagged fields of flexible versions: none of them is used. */
  skipTags(): void {
    for (let left = this.uvarint(); left > 0; left--) {
      this.uvarint()
      this.skip(this.uvarint())
    }
  }

  #items<T>(count: number, read: (reader: this) => T): T[] {
    const items: T[] = []
    for (let i = 0; i < count; i++) items.push(read(this))
    return items
  }

  #step(bytes: number): number {
    const from = this.#at
    this.#at += bytes
    return from
  }
}
