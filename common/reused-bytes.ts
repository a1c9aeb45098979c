const FIRST_BYTES = 1024
/** Longer views are not kept. */
const MAX_KEPT_BYTES = 1024

/**
 * Bytes written anew for each use, for what is copied or looked at once and then done with. Their beginnings as Buffers are
 * kept by length: a Buffer costs as much to make as to fill, and much more to clear away.
 */
export class ReusedBytes {
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES)
  #heads: (Buffer | undefined)[] = []

  /** At least so many bytes to write into; what was there may be gone. */
  room(length: number): Buffer {
    if (length > this.#bytes.length) {
      this.#bytes = Buffer.allocUnsafeSlow(length * 2)
      this.#heads = []
    }
    return this.#bytes
  }

  /** The first bytes, until the next use. */
  head(length: number): Buffer {
    if (length > MAX_KEPT_BYTES) return this.#bytes.subarray(0, length)
    return (this.#heads[length] ??= this.#bytes.subarray(0, length))
  }

  /** A text's bytes in UTF-8, until the next use. */
  utf8(text: string): Buffer {
    return this.head(this.room(text.length * MAX_UTF8_BYTES_PER_UNIT).write(text))
  }

  /** A text's characters as a byte each, until the next use. */
  latin1(text: string): Buffer {
    return this.head(this.room(text.length).write(text, 'latin1'))
  }
}

const MAX_UTF8_BYTES_PER_UNIT = 3
