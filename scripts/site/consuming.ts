import { within } from '../../common/clock.js'
import type { Clock } from '../../common/clock.js'
import type { SiteRecord } from '../../processors/site/index.js'
import type { TakenIn } from '../../topology/application-options.js'
import type { DomainHost } from './domain-host.js'
import type { RegisterClient } from './register-client.js'

/** For what an instance that ends tells of itself. */
const LAST_WORD_MS = 1000

export interface ConsumingOptions {
  readonly clock: Clock
  readonly host: DomainHost
  readonly register: Pick<RegisterClient, 'command' | 'report' | 'instance'>
  /** What this instance acts by. */
  readonly record: () => SiteRecord
  /** Its role has it consume. */
  readonly mayConsume: () => boolean
  /** A switch to this site is worked on here: then that starts the domains, and nothing here stops them. */
  readonly isSwitching: () => boolean
  /** What its components say is wrong; empty: nothing. */
  readonly troubles: () => string
  readonly isEnding: () => boolean
  /** They could not be started, or stopped; it is tried again when the role is looked at next. */
  readonly onError: (thrown: unknown) => void
}

/**
 * Has the domains of an instance run while its role says so. The register knows of every instance that consumes before it does,
 * and until it has stopped: the site has given way when all have.
 */
export class Consuming {
  readonly #options: ConsumingOptions
  /** The register may say that this instance consumes; and it has said so. */
  #isNoted = false
  #hasBegun = false
  #told = ''
  #applying: Promise<void> = Promise.resolve()
  #starting: Promise<void> | undefined
  #reporting: Promise<void> | undefined

  constructor(options: ConsumingOptions) {
    this.#options = options
  }

  /** Its tasks run, or are being started or stopped. */
  get isActive(): boolean {
    return this.#starting !== undefined || !this.#options.host.isStopped
  }
  get isReady(): boolean {
    return this.#options.host.isReady
  }
  /** The register knows that it consumes. */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** Nothing that a former life of this instance has said holds any more. */
  async begin(): Promise<void> {
    const { register } = this.#options
    await register.report({ instance: register.instance, consumes: false, troubles: '' })
  }

  /** Starts the domains, by leave of the register. Rejects where that cannot be had. */
  start(takenIn?: TakenIn): Promise<void> {
    this.#starting ??= this.#start(takenIn).finally(() => (this.#starting = undefined))
    return this.#starting
  }

  /** Does what the role says, one change after the other. Rejects when the domains cannot be stopped. */
  apply(): Promise<void> {
    const applied = this.#applying.catch(() => undefined).then(() => this.#apply())
    this.#applying = applied
    applied.catch(this.#options.onError)
    return applied
  }

  /** Rejects when the domains cannot be stopped. */
  async end(): Promise<void> {
    const { host, clock } = this.#options
    await this.#applying.catch(() => undefined)
    await host.stop()
    this.#report()
    // Where the log takes nothing any more the others learn it from the group.
    await within(clock, LAST_WORD_MS, this.#reporting ?? Promise.resolve())
  }

  /** The register does not know any more that it consumes: this instance was taken for gone. */
  async stop(): Promise<void> {
    if (this.#options.host.isRunning) await this.#options.host.stop()
  }

  async #apply(): Promise<void> {
    const { host, mayConsume, isSwitching, isEnding, onError } = this.#options
    if (isEnding()) return
    if (mayConsume()) {
      // What it has said last must not come behind what it says next.
      if (!this.isActive && this.#reporting === undefined) void this.start().catch(onError)
    } else if (host.isRunning && !isSwitching()) {
      await host.stop()
    }
    this.#report()
  }

  async #start(takenIn: TakenIn | undefined): Promise<void> {
    const { host, register, record, isEnding } = this.#options
    const { epoch, step } = record()
    this.#isNoted = true
    const data = { instance: register.instance, epoch, step }
    const { outcome } = await register.command({ type: 'ConsumingBegun', data })
    const now = record()
    if (outcome !== 'taken' || now.epoch !== epoch || now.step !== step || isEnding()) {
      throw new Error('the site register has moved on: this instance does not consume')
    }
    this.#hasBegun = true
    await host.start(takenIn)
  }

  /** Tells the register that this instance has stopped, and when its health has turned; nothing waits for that. */
  #report(): void {
    const { register, troubles, onError } = this.#options
    const told = troubles()
    const consumes = this.isActive
    const hasStopped = !consumes && this.#isNoted
    if (this.#reporting !== undefined || (!hasStopped && told === this.#told)) return
    this.#reporting = register
      .report({ instance: register.instance, consumes, troubles: told })
      .then(() => {
        this.#told = told
        if (hasStopped) this.#isNoted = this.#hasBegun = false
      })
      .catch(onError)
      .finally(() => (this.#reporting = undefined))
  }
}
