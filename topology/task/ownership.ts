import { ensureError } from '../../common/errors.js'
import type { TransactionalWriter } from '../log/log.js'
import { termOf } from '../journal/term.js'
import { retrying } from '../retry.js'
import type { TaskEnvironment } from './environment.js'
import type { Consequence } from './folder.js'
import { CHANGELOG_OWNER } from './table-runtime.js'

export interface OwnershipOptions {
  readonly environment: TaskEnvironment
  readonly writer: TransactionalWriter
  /** Ends tries of what the log refuses. */
  readonly signal: AbortSignal
  /** The newest epoch read so far. */
  epoch(): number
  /** Its own record was read back as the newest. */
  onLive(epoch: number): void
  /** Another owner's record was read, or came before its own. */
  onOutdone(instance: string): void
  onFailed(error: Error): void
}

const RETRY_MS = 1000

/**
 * An owner's term on a task: announced once the journal is folded up to where it ended at the start, begun when the record
 * is read back as the newest. Outdone by another owner's record it announces itself anew, if it is still the owner.
 */
export class Ownership {
  readonly #options: OwnershipOptions
  /** Journal offset to be reached first; none: it has announced itself. */
  #announceAt: number | undefined
  /** Epoch under which it has announced itself last. */
  #announced = 0
  #isLive = false

  constructor(options: OwnershipOptions, announceAt: number) {
    this.#options = options
    this.#announceAt = announceAt
  }

  /** The journal is folded up to here. Resolves when the announcement that this may call for is in the journal. */
  async folded(offset: number): Promise<void> {
    if (this.#announceAt === undefined || offset < this.#announceAt) return
    this.#announceAt = undefined
    await this.#announce()
  }

  /** An owner's record was folded. */
  read({ owner, isNewest }: Extract<Consequence, { kind: 'owner' }>): void {
    const { environment } = this.#options
    const isOwn = owner.instance === environment.instance && owner.epoch === this.#announced
    if (isOwn && isNewest) {
      this.#isLive = true
      this.#options.onLive(owner.epoch)
    } else if (isOwn || (isNewest && this.#isLive)) {
      this.#isLive = false
      this.#options.onOutdone(owner.instance)
      void this.#announce()
    }
  }

  /** Never rejects. */
  async #announce(): Promise<void> {
    this.#announced = this.#options.epoch() + 1
    try {
      await this.#write(this.#announced)
    } catch (thrown) {
      this.#options.onFailed(ensureError(thrown))
    }
  }

  /** To the changelog first, which only the present owner can write: one that was fenced meanwhile ends here. */
  async #write(epoch: number): Promise<void> {
    const { environment, writer, signal } = this.#options
    const { processor, instance, partition, journalWriter, changelogTopic: topic, clock, observer, probe } = environment
    const records = [{ key: Buffer.from(CHANGELOG_OWNER), value: Buffer.from(JSON.stringify({ epoch, instance })) }]
    const onRetry = (error: Error): void => observer.onError(error)
    await retrying({ clock, delayMs: RETRY_MS, signal, onRetry }, () => writer.append([{ topic, partition, records }]))
    await journalWriter(partition).append([{ kind: 'owner', epoch, ...termOf(processor), preloaded: false, instance }])
    await probe?.('owner announced', partition)
  }
}
