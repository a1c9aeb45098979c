import type { StoredBatch } from './batch-codec.js'

/** What a batch costs beside its bytes: objects and the array buffer's own book-keeping. */
const overheadBytes = 256

/** The newest batches of one partition, without a hole up to its end. */
export class Tail {
  #batches: (StoredBatch | undefined)[] = []
  #first = 0

  covers(offset: number): boolean {
    const oldest = this.#batches[this.#first]
    return oldest !== undefined && oldest.base <= offset
  }

  /** The batches from the one that holds `offset` on; asked only where it is covered. */
  *from(offset: number): Iterable<StoredBatch> {
    const batches = this.#batches
    let low = this.#first
    let high = batches.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((batches[middle] as StoredBatch).next <= offset) low = middle + 1
      else high = middle
    }
    for (let i = low; i < batches.length; i++) yield batches[i] as StoredBatch
  }

  push(batch: StoredBatch): void {
    this.#batches.push(batch)
  }

  shift(): StoredBatch | undefined {
    const batch = this.#batches[this.#first]
    if (batch === undefined) return undefined
    this.#batches[this.#first++] = undefined
    if (this.#first > 64 && this.#first * 2 > this.#batches.length) {
      this.#batches = this.#batches.slice(this.#first)
      this.#first = 0
    }
    return batch
  }
}

/** Bounds the bytes of all tails together; the oldest batch of the whole log goes first. */
export class TailCache {
  readonly #maxBytes: number
  #bytes = 0
  #order: Tail[] = []
  #first = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  add(tail: Tail, batch: StoredBatch): void {
    tail.push(batch)
    this.#order.push(tail)
    this.#bytes += batch.value.length + overheadBytes
    while (this.#bytes > this.#maxBytes) this.#evict(this.#order[this.#first++] as Tail)
    if (this.#first > 1024 && this.#first * 2 > this.#order.length) {
      this.#order = this.#order.slice(this.#first)
      this.#first = 0
    }
  }

  /** Forgets a partition's batches: those on disk were rewritten. */
  clear(tail: Tail): void {
    while (this.#evict(tail));
  }

  #evict(tail: Tail): boolean {
    const batch = tail.shift()
    if (batch !== undefined) this.#bytes -= batch.value.length + overheadBytes
    return batch !== undefined
  }
}
