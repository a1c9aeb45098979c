import type { KeyValueStore } from '../../../state-stores/key-value-store.js'
import type { GroupPosition, TopicPartition } from '../log.js'
import { positionKey } from './rows.js'
import { logErrorOf } from './store-failure.js'
import type { PreparedWrite, WriteQueue } from './write-queue.js'

/** The positions that groups committed: offset (8 bytes) and metadata. */
export class PositionRows {
  readonly #store: KeyValueStore
  readonly #queue: WriteQueue

  constructor(store: KeyValueStore, queue: WriteQueue) {
    this.#store = store
    this.#queue = queue
  }

  async put(group: string, topicNumber: number, { partition }: TopicPartition, position: GroupPosition): Promise<void> {
    const value = Buffer.concat([Buffer.alloc(8), Buffer.from(position.metadata)])
    value.writeDoubleBE(position.offset)
    await this.#queue.submit(value.length, (operations): PreparedWrite<void> => {
      operations.push({ key: positionKey(group, topicNumber, partition), value })
      return { applied: () => undefined, undo: () => undefined }
    })
  }

  async get(group: string, topicNumber: number, { partition }: TopicPartition): Promise<GroupPosition | undefined> {
    const value = await this.#store.get(positionKey(group, topicNumber, partition)).catch((error: unknown) => {
      throw logErrorOf(error)
    })
    return value && { offset: value.readDoubleBE(), metadata: value.toString('utf8', 8) }
  }
}
