import { isSiteRecord } from '../../processors/site/index.js'
import type { SiteRecord } from '../../processors/site/index.js'
import type { Log } from '../../topology/log/log.js'

/**
 * The changes of the site register as they come to its topic: every instance of the site reads them there, whoever has the
 * register, and whether or not that one can be reached.
 */
export class RegisterTail {
  readonly #log: Log
  readonly #topic: string
  #offset: number | undefined

  constructor(log: Log, topic: string) {
    this.#log = log
    this.#topic = topic
  }

  /** Begins at the topic's end, then answers what has come since the last call. Rejects with what the log rejects with. */
  async next(): Promise<readonly SiteRecord[]> {
    const place = { topic: this.#topic, partition: 0 }
    const { start, end } = await this.#log.offsets(place)
    let offset = Math.max(start, this.#offset ?? end)
    const found: SiteRecord[] = []
    while (offset < end) {
      const { records, next } = await this.#log.read(place, offset)
      for (const { value } of records) {
        const record: unknown = value === null ? undefined : JSON.parse(value.toString())
        if (isSiteRecord(record)) found.push(record)
      }
      offset = next
    }
    this.#offset = offset
    return found
  }
}
