import type { Log, TopicPartition } from '../../log/log.js'
import { partitionName } from '../../log/balanced-placement.js'

/** Who started an incarnation, and why; absent: it is the first. */
export interface Act {
  readonly actor?: string
  readonly reason?: string
}

export interface RegisteredSource extends Act {
  readonly incarnation: string
}

/**
 * Which incarnation of each source partition is read: the newest record of its name in a compacted topic with one
 * partition. The group's positions cannot tell, as they go with a deleted topic.
 */
export class SourceRegister {
  readonly #log: Log
  readonly #at: TopicPartition
  readonly #sources = new Map<string, RegisteredSource>()
  #next = 0
  #reading: Promise<void> | undefined

  constructor(log: Log, topic: string) {
    this.#log = log
    this.#at = { topic, partition: 0 }
  }

  get(source: TopicPartition): RegisteredSource | undefined {
    return this.#sources.get(partitionName(source))
  }

  /** Reads what was added, by any instance. */
  refresh(): Promise<void> {
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined))
    return this.#reading
  }

  async put(source: TopicPartition, registered: RegisteredSource): Promise<void> {
    const [key, value] = [Buffer.from(partitionName(source)), Buffer.from(JSON.stringify(registered))]
    await this.#log.append(this.#at.topic, this.#at.partition, [{ key, value }])
    await this.refresh()
  }

  async #read(): Promise<void> {
    const { start, end } = await this.#log.offsets(this.#at)
    this.#next = Math.max(this.#next, start)
    while (this.#next < end) {
      const { records, next } = await this.#log.read(this.#at, this.#next)
      for (const { key, value } of records) {
        if (key !== null && value !== null) {
          this.#sources.set(key.toString(), JSON.parse(value.toString()) as RegisteredSource)
        }
      }
      this.#next = next
    }
  }
}
