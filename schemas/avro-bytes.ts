/** Avro's binary encoding, one value after the other. The bytes are those of avsc. */

/** What Avro's `long` may be here: beyond it a number has no exact double. */
const MAX_LONG = Number.MAX_SAFE_INTEGER - 1
/** Up to here a loop costs less than a call out of JavaScript. */
const FEW_CHARACTERS = 64
const MAX_BYTES_PER_CHARACTER = 3
const MAX_VARINT_BYTES = 10
/** Of a number as written, these come first: four bytes. */
const LOW_BITS = 28
const LOW_PART = 2 ** (LOW_BITS - 1)

/** Writes behind what it holds already, and grows as needed. */
export class AvroWriter {
  #buffer: Buffer
  #at = 0

  constructor(expectedBytes = 1024) {
    this.#buffer = Buffer.allocUnsafeSlow(expectedBytes)
  }

  get length(): number {
    return this.#at
  }

  /** Forgets all behind `length`. */
  cutTo(length: number): void {
    this.#at = length
  }

  /** What was written, from `from` on; it shares memory with the writer. */
  bytes(from = 0): Buffer {
    return this.#buffer.subarray(from, this.#at)
  }

  byte(value: number): void {
    this.#room(1)
    this.#buffer[this.#at++] = value
  }

  /** Of a whole number; throws where a double does not hold it exactly. */
  long(value: number): void {
    if (!Number.isInteger(value) || value > MAX_LONG || value < -MAX_LONG) throw misfit(value, 'long')
    const at = this.#at
    // The usual case: a byte.
    if (value >= 0 && value < 64 && at < this.#buffer.length) {
      this.#buffer[at] = value << 1
      this.#at = at + 1
      return
    }
    this.#room(MAX_VARINT_BYTES)
    // Zigzag, in two parts that bit operations take.
    const sign = value < 0 ? 1 : 0
    const size = value < 0 ? -value - 1 : value
    if (size < LOW_PART) {
      this.#at = this.#varint((size << 1) | sign, this.#at)
      return
    }
    const low = ((size % LOW_PART) << 1) | sign
    for (let shift = 0; shift < LOW_BITS; shift += 7) this.#buffer[this.#at++] = (low >>> shift) | 0x80
    this.#at = this.#varint(Math.floor(size / LOW_PART), this.#at)
  }

  double(value: number): void {
    this.#room(8)
    this.#at = this.#buffer.writeDoubleLE(value, this.#at)
  }

  string(text: string): void {
    const { length } = text
    if (length <= FEW_CHARACTERS) {
      this.#room(MAX_VARINT_BYTES + length)
      const buffer = this.#buffer
      const from = this.#at + (length < 64 ? 1 : 2)
      let i = 0
      for (; i < length; i++) {
        const code = text.charCodeAt(i)
        if (code >= 0x80) break
        buffer[from + i] = code
      }
      if (i === length) {
        this.long(length)
        this.#at = from + length
        return
      }
    }
    const bytes = Buffer.byteLength(text)
    this.long(bytes)
    this.#room(length * MAX_BYTES_PER_CHARACTER)
    this.#at += this.#buffer.write(text, this.#at)
  }

  raw(bytes: Uint8Array): void {
    this.#room(bytes.length)
    this.#buffer.set(bytes, this.#at)
    this.#at += bytes.length
  }

  #varint(value: number, at: number): number {
    const buffer = this.#buffer
    let rest = value
    for (; rest >= 0x80; rest >>>= 7) buffer[at++] = rest | 0x80
    buffer[at++] = rest
    return at
  }

  #room(bytes: number): void {
    const needed = this.#at + bytes
    if (needed <= this.#buffer.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#buffer.length))
    this.#buffer.copy(larger, 0, 0, this.#at)
    this.#buffer = larger
  }
}

/** Reads from `at` on. Errors: RangeError where what is asked for is not there. */
export class AvroReader {
  readonly #buffer: Buffer
  #at: number

  constructor(buffer: Buffer, at = 0) {
    this.#buffer = buffer
    this.#at = at
  }

  get at(): number {
    return this.#at
  }

  get left(): number {
    return this.#buffer.length - this.#at
  }

  /** To a place that is there, or its end. */
  moveTo(at: number): void {
    if (at > this.#buffer.length) throw new RangeError(`${at - this.#buffer.length} bytes are not there`)
    this.#at = at
  }

  byte(): number {
    const value = this.#buffer[this.#at++]
    if (value === undefined) throw new RangeError('it ends in the middle of a value')
    return value
  }

  long(): number {
    const first = this.byte()
    if (first < 0x80) return (first >>> 1) ^ -(first & 1)
    let byte = first
    let low = first & 0x7f
    for (let shift = 7; byte >= 0x80 && shift < LOW_BITS; shift += 7) {
      byte = this.byte()
      low |= (byte & 0x7f) << shift
    }
    const sign = low & 1
    let value = low >>> 1
    for (let scale = LOW_PART, bytes = LOW_BITS / 7; byte >= 0x80; scale *= 128) {
      if (++bytes > MAX_VARINT_BYTES) throw new RangeError('a number has too many bytes')
      byte = this.byte()
      value += (byte & 0x7f) * scale
    }
    if (value > MAX_LONG) throw new RangeError('a number is too large')
    return sign === 0 ? value : -value - 1
  }

  double(): number {
    return this.#buffer.readDoubleLE(this.#skip(8))
  }

  /** `before` is given back where it is the text that stands here: what repeats is one string. */
  string(before: string): string {
    const length = this.length()
    const from = this.#skip(length)
    const buffer = this.#buffer
    if (length === before.length) {
      // From the end: what differs mostly differs there.
      let i = length - 1
      while (i >= 0 && buffer[from + i] === before.charCodeAt(i) && (buffer[from + i] as number) < 0x80) i--
      if (i < 0) return before
    }
    if (length > FEW_CHARACTERS) return buffer.toString('utf8', from, from + length)
    for (let i = from; i < from + length; i++) {
      if ((buffer[i] as number) >= 0x80) return buffer.toString('utf8', from, from + length)
    }
    return buffer.toString('latin1', from, from + length)
  }

  /** Whether these bytes come next, and are so many. */
  isNext(bytes: Buffer, length: number): boolean {
    if (bytes.length !== length || length > this.left) return false
    // From the end: what differs mostly differs there.
    for (let i = length - 1; i >= 0; i--) if (this.#buffer[this.#at + i] !== bytes[i]) return false
    return true
  }

  /** Shares memory with what is read. */
  slice(length: number): Buffer {
    const from = this.#skip(length)
    return this.#buffer.subarray(from, this.#at)
  }

  /** A copy: what is read outlives what it was read from. */
  bytes(): Buffer {
    const length = this.length()
    const from = this.#skip(length)
    return Buffer.from(this.#buffer.subarray(from, from + length))
  }

  /** Goes behind what `bytes` or `string` would read. */
  skipBytes(): void {
    this.#skip(this.length())
  }

  array<Item>(read: (from: this) => Item): Item[] {
    const items: Item[] = []
    for (let count = this.count(); count > 0; count = this.count()) {
      for (let left = count; left > 0; left--) items.push(read(this))
    }
    return items
  }

  /** Goes behind an array; answers how many items it has. */
  skipArray(skip: () => void): number {
    let items = 0
    for (let count = this.count(); count > 0; count = this.count()) {
      items += count
      for (let left = count; left > 0; left--) skip()
    }
    return items
  }

  /** Of the items of an array that follow; 0: it ends. Each item takes a byte at least. */
  count(): number {
    const count = this.long()
    // A negative one has the bytes of the items behind it, for readers that skip them.
    if (count < 0) this.long()
    if (Math.abs(count) > this.left) throw new RangeError(`${Math.abs(count)} items are not there`)
    return Math.abs(count)
  }

  /** Of bytes that follow. */
  length(): number {
    const length = this.long()
    if (length < 0 || length > this.left) throw new RangeError(`${length} bytes are not there`)
    return length
  }

  #skip(bytes: number): number {
    const from = this.#at
    if (bytes > this.left) throw new RangeError(`${bytes} bytes are not there`)
    this.#at = from + bytes
    return from
  }
}

export function misfit(value: unknown, type: string): TypeError {
  const what =
    typeof value === 'string' || typeof value === 'number' ? String(value) : `a value of type ${typeof value}`
  return new TypeError(`${what} is no ${type}`)
}
