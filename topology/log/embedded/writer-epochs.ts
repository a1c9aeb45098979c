import type { KeyValueStore } from '../../../state-stores/key-value-store.js'
import { cut } from '../../../common/errors.js'
import { LogError } from '../errors.js'
import { textOf, writerKey, writerRows } from './rows.js'
import { logErrorOf } from './store-failure.js'
import type { PreparedWrite, WriteQueue } from './write-queue.js'

/** The newest epoch of each transactional id: one more with each writer opened, kept over restarts. */
export class WriterEpochs {
  readonly #newest = new Map<string, number>()
  readonly #queue: WriteQueue

  private constructor(queue: WriteQueue) {
    this.#queue = queue
  }

  static async recover(store: KeyValueStore, queue: WriteQueue): Promise<WriterEpochs> {
    const epochs = new WriterEpochs(queue)
    try {
      for await (const page of store.entries(writerRows)) {
        for (const [key, value] of page) epochs.#newest.set(textOf(key), value.readDoubleBE())
      }
    } catch (error) {
      throw logErrorOf(error)
    }
    return epochs
  }

  /** Fences all former writers of the id, also when the new epoch then cannot be stored. */
  async next(transactionalId: string): Promise<number> {
    const epoch = (this.#newest.get(transactionalId) ?? 0) + 1
    this.#newest.set(transactionalId, epoch)
    const value = Buffer.allocUnsafe(8)
    value.writeDoubleBE(epoch)
    await this.#queue.submit(0, (operations): PreparedWrite<void> => {
      operations.push({ key: writerKey(transactionalId), value })
      return { applied: () => undefined, undo: () => undefined }
    })
    return epoch
  }

  /** Errors: WRITER_FENCED. */
  check(transactionalId: string, epoch: number): void {
    const newest = this.#newest.get(transactionalId)
    if (newest === epoch) return
    throw new LogError(
      'WRITER_FENCED',
      `writer ${cut(transactionalId)} of epoch ${epoch} was followed by ${newest ?? 0}`,
      {
        details: { transactionalId: cut(transactionalId), epoch, newest },
      },
    )
  }
}
