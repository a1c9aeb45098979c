import type { KeyValueStore } from '../../../state-stores/key-value-store.js'
import type { Seal, StoredBatch } from './batch-codec.js'
import { sealOf, storedBatch } from './batch-codec.js'
import { batchKey } from './rows.js'
import { logErrorOf } from './store-failure.js'

/** Batches of one iterator of the store. */
const chunkBatches = 500

/** The batches of one partition in the store, by offset. */
export class BatchRows {
  readonly #store: KeyValueStore
  readonly #topicNumber: number
  readonly #partition: number

  constructor(store: KeyValueStore, topicNumber: number, partition: number) {
    this.#store = store
    this.#topicNumber = topicNumber
    this.#partition = partition
  }

  keyOf(offset: number): Buffer {
    return batchKey(this.#topicNumber, this.#partition, offset)
  }

  /** Deletes all batches whose base lies below `offset`. */
  async clearBelow(offset: number): Promise<void> {
    await this.#store.clear({ gte: this.keyOf(0), lt: this.keyOf(offset) }).catch((error: unknown) => {
      throw logErrorOf(error)
    })
  }

  /** Batches from the one that holds `from` (or the first behind it) up to offset `to`. */
  async *range(from: number, to: number): AsyncIterable<StoredBatch> {
    let next = from
    let count: number
    try {
      do {
        count = 0
        const range = { gte: this.keyOf(next), lt: this.keyOf(to), limit: chunkBatches }
        for await (const page of this.#store.entries(range)) {
          for (const [key, value] of page) {
            const batch = storedBatch(key, value)
            if (count++ === 0 && batch.base > next) yield* this.#holding(next)
            next = batch.next
            yield batch
          }
        }
      } while (count === chunkBatches)
      if (count === 0) yield* this.#holding(next)
    } catch (error) {
      throw logErrorOf(error)
    }
  }

  async *#holding(offset: number): AsyncIterable<StoredBatch> {
    const batch = await this.before(offset)
    if (batch !== undefined && batch.next > offset) yield batch
  }

  /** The last batch whose base lies below `offset`. */
  async before(offset: number): Promise<StoredBatch | undefined> {
    const range = { gte: this.keyOf(0), lt: this.keyOf(offset), reverse: true, limit: 1 }
    try {
      for await (const page of this.#store.entries(range)) {
        for (const [key, value] of page) return storedBatch(key, value)
      }
    } catch (error) {
      throw logErrorOf(error)
    }
    return undefined
  }

  /**
   * The first batch that fulfils a condition which, once true, stays true for all later batches; found by halving the
   * offsets. Undefined when none does.
   */
  async first(from: number, to: number, condition: (seal: Seal) => boolean): Promise<StoredBatch | undefined> {
    let low = from
    let high = to
    let found: StoredBatch | undefined
    while (low < high) {
      const batch = await this.before(Math.floor((low + high) / 2) + 1)
      if (batch === undefined || batch.next <= low) {
        low = Math.floor((low + high) / 2) + 1
      } else if (condition(sealOf(batch.value))) {
        found = batch
        high = batch.base
      } else {
        low = batch.next
      }
    }
    return found
  }
}
