/** Of a refusal, as text. */
const SHOWN_BYTES = 500
const HEAD_END = '\r\n\r\n'
const LAST_CHUNK = '0\r\n\r\n'

/** Reads one HTTP answer from the pieces it arrives in; of the body no more than its size. */
export class AnswerReader {
  status = 0
  /** Of the body, with the marks of its chunks. */
  bytes = 0
  /** The beginning of a refusal's body. */
  shown = ''
  #head = ''
  /** Of the body; undefined: it ends with a last chunk. */
  #length: number | undefined
  #tail = ''

  /** True: the answer is whole. */
  take(chunk: Buffer): boolean {
    if (this.status > 0) return this.#takeBody(chunk, 0)
    // Latin-1: a character each byte.
    const before = this.#head.length
    this.#head += chunk.toString('latin1')
    const end = this.#head.indexOf(HEAD_END)
    if (end < 0) return false
    this.status = Number(this.#head.slice(9, 12))
    const length = /\r\ncontent-length: *(\d+)/i.exec(this.#head.slice(0, end))?.[1]
    this.#length = length === undefined ? undefined : Number(length)
    if (this.status === 204) this.#length = 0
    return this.#takeBody(chunk, end + HEAD_END.length - before)
  }

  #takeBody(chunk: Buffer, from: number): boolean {
    this.bytes += chunk.length - from
    if (this.status >= 300 && this.shown.length < SHOWN_BYTES) this.shown += chunk.toString('utf8', from)
    if (this.#length !== undefined) return this.bytes >= this.#length
    this.#tail = (this.#tail + chunk.toString('latin1', Math.max(from, chunk.length - LAST_CHUNK.length))).slice(
      -LAST_CHUNK.length,
    )
    return this.#tail === LAST_CHUNK
  }
}
