import type { Clock } from '../common/clock.js'
import { ensureError } from '../common/errors.js'
import { LogError } from './log/errors.js'
import type { Log, TransactionalWriter } from './log/log.js'

/** What is wrong with the record or the writer, and not with the log. */
const ownFaults: ReadonlySet<string> = new Set(['RECORD_TOO_LARGE', 'WRITER_FENCED', 'LOG_CLOSED'])

/** Longer than a try and the pause behind it: what is still tried is refused again before. */
const REFUSAL_COUNTS_MS = 60_000

interface Refusal {
  readonly message: string
  readonly at: number
}

/**
 * Whether the log takes what is written to it, as the writes themselves tell, at each place by itself: others go on where one
 * partition refuses. What is refused is tried again until it is taken, or until its place is another instance's.
 */
export class LogWrites {
  readonly #clock: Pick<Clock, 'monotonic'>
  /** By partition or transactional id: the newest write was refused. */
  readonly #refusals = new Map<string, Refusal>()

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** Why a place refuses; empty: none does. */
  get trouble(): string {
    const from = this.#clock.monotonic() - REFUSAL_COUNTS_MS
    return [...this.#refusals.values()].find(({ at }) => at > from)?.message ?? ''
  }

  /** The log, with its writes watched. */
  watched(log: Log): Log {
    return {
      createTopics: (specs) => log.createTopics(specs),
      topic: (name) => log.topic(name),
      topics: () => log.topics(),
      append: (topic, partition, records) =>
        this.#watch(`${topic}/${partition}`, log.append(topic, partition, records)),
      offsets: (partition) => log.offsets(partition),
      offsetForTime: (partition, timestampMs) => log.offsetForTime(partition, timestampMs),
      read: (partition, offset, options) => log.read(partition, offset, options),
      join: (options) => log.join(options),
      committed: (group, partition) => log.committed(group, partition),
      writer: async (id) => this.#watchedWriter(id, await this.#watch(id, log.writer(id))),
      close: () => log.close(),
    }
  }

  #watchedWriter(id: string, writer: TransactionalWriter): TransactionalWriter {
    return { append: (parts) => this.#watch(id, writer.append(parts)), close: () => writer.close() }
  }

  async #watch<Result>(place: string, write: Promise<Result>): Promise<Result> {
    try {
      const result = await write
      this.#refusals.delete(place)
      return result
    } catch (thrown) {
      if (!(thrown instanceof LogError) || !ownFaults.has(thrown.code)) {
        this.#refusals.set(place, { message: ensureError(thrown).message, at: this.#clock.monotonic() })
      }
      throw thrown
    }
  }
}
