import type { KeyValueStore } from '../../../state-stores/key-value-store.js'
import { cut } from '../../../common/errors.js'
import { LogError } from '../errors.js'
import { checkedRows } from './checked-rows.js'
import { textOf, writerKey, writerRows } from './rows.js'
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
    for (const [key, value] of await checkedRows(store, writerRows)) {
      epochs.#newest.set(textOf(key), value.readDoubleBE())
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
