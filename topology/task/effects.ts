import { setMaxListeners } from 'node:events'
import { sleep } from '../../common/clock.js'
import type { Clock } from '../../common/clock.js'
import { cut, ensureError } from '../../common/errors.js'
import type { JournalWriter } from '../journal/journal-writer.js'
import type { EffectRequest, Effector, JournalEvent } from '../processor.js'

export interface EffectsOptions {
  readonly clock: Clock
  readonly effectors: readonly Effector[]
  readonly writer: Pick<JournalWriter, 'append'>
  onPerformed(kind: string, durationMs: number): void
  onError(error: Error): void
}

const RETRY_DELAY_MS = 1000

/**
 * Carries out what the folds of a live task owe: one at a time for a target, in order, targets side by side. The result goes
 * to the journal with the effect's id; until it is folded the effect stays owed, so a new owner does it again.
 */
export class Effects {
  readonly #options: EffectsOptions
  readonly #owed = new Map<string, EffectRequest>()
  readonly #targets = new Map<string, Promise<void>>()
  /** Of the term that runs; none: not live. */
  #term: AbortController | undefined

  constructor(options: EffectsOptions) {
    this.#options = options
  }

  get owed(): number {
    return this.#owed.size
  }

  /** Takes over, in this order: what a former owner may be in the middle of is given its attempt's time to end first. */
  start(inherited: readonly EffectRequest[]): void {
    this.#term = new AbortController()
    // Each attempt under way listens to it.
    setMaxListeners(0, this.#term.signal)
    const now = this.#options.clock.monotonic()
    for (const effect of inherited) this.#enqueue(effect, now + (this.#effectorOf(effect)?.deadlineMs ?? 0))
  }

  requested(effect: EffectRequest): void {
    this.#enqueue(effect, Number.NEGATIVE_INFINITY)
  }

  settled(effectId: string): void {
    this.#owed.delete(effectId)
  }

  /** Ends attempts and waits; resolves when none is under way. */
  async stop(): Promise<void> {
    this.#term?.abort()
    this.#term = undefined
    this.#owed.clear()
    await Promise.all(this.#targets.values())
  }

  #effectorOf({ kind }: EffectRequest): Effector | undefined {
    return this.#options.effectors.find((candidate) => candidate.kind === kind)
  }

  #enqueue(effect: EffectRequest, notBefore: number): void {
    const effector = this.#effectorOf(effect)
    const signal = this.#term?.signal
    if (signal === undefined || effector === undefined || this.#owed.has(effect.id)) return
    this.#owed.set(effect.id, effect)
    const before = this.#targets.get(effect.target) ?? Promise.resolve()
    const after = before
      .then(() => this.#perform(effect, effector, notBefore, signal))
      .finally(() => {
        if (this.#targets.get(effect.target) === after) this.#targets.delete(effect.target)
      })
    this.#targets.set(effect.target, after)
  }

  async #perform(effect: EffectRequest, effector: Effector, notBefore: number, signal: AbortSignal): Promise<void> {
    const { clock, writer } = this.#options
    const waitMs = notBefore - clock.monotonic()
    if (waitMs > 0) await sleep(clock, waitMs, signal)
    // The term may end, and what is owed be withdrawn, at each await.
    const isWanted = (): boolean => !signal.aborted && this.#owed.has(effect.id)
    while (isWanted()) {
      try {
        const started = clock.monotonic()
        const event = await this.#attempt(effect, effector, signal)
        this.#options.onPerformed(effect.kind, clock.monotonic() - started)
        if (signal.aborted) return
        await writer.append([{ kind: 'event', event, effectId: effect.id }])
        return
      } catch (thrown) {
        if (!isWanted()) return
        this.#options.onError(ensureError(thrown))
        await sleep(clock, RETRY_DELAY_MS, signal)
      }
    }
  }

  /** Rejects at the effector's deadline, and at the term's end, whether it listens or not. */
  async #attempt(effect: EffectRequest, effector: Effector, term: AbortSignal): Promise<JournalEvent> {
    const { clock } = this.#options
    const attempt = new AbortController()
    const ended = new Promise<never>((_resolve, reject) => {
      attempt.signal.addEventListener('abort', () => reject(ensureError(attempt.signal.reason)), { once: true })
    })
    const tooLong = new Error(`${effect.kind} to ${cut(effect.target)} has no result after ${effector.deadlineMs} ms`)
    const cancelDeadline = clock.setTimer(() => attempt.abort(tooLong), effector.deadlineMs)
    const endOfTerm = (): void => attempt.abort(new Error('the term has ended'))
    term.addEventListener('abort', endOfTerm, { once: true })
    try {
      return await Promise.race([effector.perform(effect, attempt.signal), ended])
    } finally {
      cancelDeadline()
      term.removeEventListener('abort', endOfTerm)
    }
  }
}
