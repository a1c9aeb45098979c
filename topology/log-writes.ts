import { ensureError } from '../common/errors.js'
import { LogError } from './log/errors.js'
import type { Log, TransactionalWriter } from './log/log.js'

/** What is wrong with the record or the writer, and not with the log. */
const ownFaults: ReadonlySet<string> = new Set(['RECORD_TOO_LARGE', 'WRITER_FENCED', 'LOG_CLOSED'])

/**
 * Whether the log takes what is written to it, as the writes themselves tell. What it refuses is tried again until it is
 * taken, so it shows when the log does again.
 */
export class LogWrites {
  #refusal: Error | undefined

  /** Why the newest write was refused, and all since the last that was taken; empty: none was. */
  get trouble(): string {
    return this.#refusal?.message ?? ''
  }

  /** The log, with its writes watched. */
  watched(log: Log): Log {
    return {
      createTopics: (specs) => log.createTopics(specs),
      topic: (name) => log.topic(name),
      topics: () => log.topics(),
      append: (topic, partition, records) => this.#watch(log.append(topic, partition, records)),
      offsets: (partition) => log.offsets(partition),
      offsetForTime: (partition, timestampMs) => log.offsetForTime(partition, timestampMs),
      read: (partition, offset, options) => log.read(partition, offset, options),
      join: (options) => log.join(options),
      committed: (group, partition) => log.committed(group, partition),
      writer: async (transactionalId) => this.#watchedWriter(await this.#watch(log.writer(transactionalId))),
      close: () => log.close(),
    }
  }

  #watchedWriter(writer: TransactionalWriter): TransactionalWriter {
    return { append: (parts) => this.#watch(writer.append(parts)), close: () => writer.close() }
  }

  async #watch<Result>(write: Promise<Result>): Promise<Result> {
    try {
      const result = await write
      this.#refusal = undefined
      return result
    } catch (thrown) {
      if (!(thrown instanceof LogError) || !ownFaults.has(thrown.code)) {
        this.#refusal = ensureError(thrown)
      }
      throw thrown
    }
  }
}
