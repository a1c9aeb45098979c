import { sleep } from '../../common/clock.js'
import type { Clock } from '../../common/clock.js'
import { ensureError } from '../../common/errors.js'
import type { Log, TopicPartition } from '../log/log.js'
import type { InputsTakenIn } from '../processor.js'
import { holdsRecords } from './holds-records.js'

export interface IntakeOptions {
  readonly clock: Clock
  readonly log: Pick<Log, 'offsets' | 'read'>
  /** Every partition of the domain's input topics, whichever instance reads it. */
  readonly inputs: () => readonly TopicPartition[]
  /** Where the group stands in an input: all before is in the journal. Undefined: it has not begun. */
  readonly committed: (input: TopicPartition) => Promise<number | undefined>
  /** A journal partition is told what it asked for. */
  readonly tell: (partition: number, taken: InputsTakenIn) => void
  readonly onError: (error: Error) => void
  /** Ends the work. */
  readonly signal: AbortSignal
}

/** Between two rounds: what is asked meanwhile goes together into the next. */
const ROUND_MS = 25
/** Between two looks at a group that is behind. */
const POLL_MS = 10
const RETRY_MS = 1000

/**
 * Finds out when all that stood in a domain's inputs at some moment is in the journal: the journal time comes first, then
 * the inputs' ends are read, then the group's positions until they have reached those ends. So a dead, paused or lagging
 * ingest, here or in another instance, gives no answer, and nobody is taken as silent whose messages still lie there.
 */
export class Intake {
  readonly #options: IntakeOptions
  #asked = new Map<number, number>()
  #running = false

  constructor(options: IntakeOptions) {
    this.#options = options
  }

  /** `asOf`: journal time of the partition that asks, no later than now. */
  ask(partition: number, asOf: number): void {
    this.#asked.set(partition, asOf)
    if (this.#running) return
    this.#running = true
    void this.#run()
  }

  async #run(): Promise<void> {
    const { clock, signal } = this.#options
    while (this.#asked.size > 0 && !signal.aborted) {
      const asked = this.#asked
      this.#asked = new Map()
      await sleep(clock, (await this.#answered(asked)) ? ROUND_MS : RETRY_MS, signal)
    }
    this.#running = false
  }

  /** False when the log could not say: then it is asked again, unless a newer question has come. */
  async #answered(asked: ReadonlyMap<number, number>): Promise<boolean> {
    const { inputs, signal, tell, onError } = this.#options
    try {
      const taken = await this.#takenIn(inputs())
      if (!signal.aborted) for (const [partition, asOf] of asked) tell(partition, { asOf, inputs: taken })
      return true
    } catch (thrown) {
      if (!signal.aborted) onError(ensureError(thrown))
      this.#asked = new Map([...asked, ...this.#asked])
      return false
    }
  }

  /** Resolves when the group has taken in all that the inputs hold now. */
  async #takenIn(inputs: readonly TopicPartition[]): Promise<InputsTakenIn['inputs']> {
    const { log, clock, signal } = this.#options
    const taken = await Promise.all(
      inputs.map(async (input) => ({ ...input, ...(await log.offsets(input)), isTaken: false })),
    )
    for (let behind = taken; behind.length > 0 && !signal.aborted;) {
      await Promise.all(behind.map(async (input) => (input.isTaken = await this.#isTakenIn(input))))
      behind = behind.filter(({ isTaken }) => !isTaken)
      if (behind.length > 0) await sleep(clock, POLL_MS, signal)
    }
    return taken.map(({ topic, partition, end }) => ({ topic, partition, offset: end }))
  }

  async #isTakenIn(input: TopicPartition & { readonly start: number; readonly end: number }): Promise<boolean> {
    const { start, end } = input
    if (start === end) return true
    const position = Math.max(start, (await this.#options.committed(input)) ?? start)
    const { topic, partition } = input
    return position >= end || !(await holdsRecords(this.#options.log, { topic, partition }, position, end))
  }
}
