import { sleep } from '../../common/clock.js'
import type { Clock } from '../../common/clock.js'
import { ensureError } from '../../common/errors.js'
import type { JournalWriter } from '../journal/journal-writer.js'
import type { EffectRequest, Effector } from '../processor.js'

export interface EffectsOptions {
  readonly clock: Clock
  readonly effectors: readonly Effector[]
  readonly writer: JournalWriter
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
  readonly #stop = new AbortController()
  #running = false

  constructor(options: EffectsOptions) {
    this.#options = options
  }

  get owed(): number {
    return this.#owed.size
  }

  /** Takes over: what a former owner may be in the middle of is given its attempt's time to end first. */
  start(inherited: readonly EffectRequest[]): void {
    this.#running = true
    for (const effect of inherited) {
      const effector = this.#options.effectors.find((candidate) => candidate.kind === effect.kind)
      this.#enqueue(effect, effector?.deadlineMs ?? 0)
    }
  }

  requested(effect: EffectRequest): void {
    if (this.#running) this.#enqueue(effect, 0)
  }

  settled(effectId: string): void {
    this.#owed.delete(effectId)
  }

  async stop(): Promise<void> {
    this.#running = false
    this.#stop.abort()
    await Promise.all(this.#targets.values())
  }

  #enqueue(effect: EffectRequest, waitMs: number): void {
    if (this.#owed.has(effect.id)) return
    this.#owed.set(effect.id, effect)
    const before = this.#targets.get(effect.target) ?? Promise.resolve()
    const after = before
      .then(() => this.#perform(effect, waitMs))
      .finally(() => {
        if (this.#targets.get(effect.target) === after) this.#targets.delete(effect.target)
      })
    this.#targets.set(effect.target, after)
  }

  async #perform(effect: EffectRequest, waitMs: number): Promise<void> {
    const { clock, effectors, writer } = this.#options
    const { signal } = this.#stop
    const isStopped = (): boolean => signal.aborted
    if (waitMs > 0) await sleep(clock, waitMs, signal)
    const effector = effectors.find((candidate) => candidate.kind === effect.kind)
    // `stop` ends the wait; what is withdrawn meanwhile is not done.
    while (effector !== undefined && !isStopped() && this.#owed.has(effect.id)) {
      try {
        const started = clock.monotonic()
        const event = await effector.perform(effect, signal)
        this.#options.onPerformed(effect.kind, clock.monotonic() - started)
        if (isStopped()) return
        await writer.append([{ kind: 'event', event, effectId: effect.id }])
        return
      } catch (thrown) {
        if (isStopped()) return
        this.#options.onError(ensureError(thrown))
        await sleep(clock, RETRY_DELAY_MS, signal)
      }
    }
  }
}
