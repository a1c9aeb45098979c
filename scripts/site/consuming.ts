import type { SiteRecord } from '../../processors/site/index.js'
import type { TakenIn } from '../../topology/application-options.js'
import type { DomainHost } from './domain-host.js'
import type { RegisterClient } from './register-client.js'

export interface ConsumingOptions {
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
    await this.#applying.catch(() => undefined)
    await this.#options.host.stop()
    await this.#tell(false).catch(() => undefined)
  }

  /** The register does not know any more that it consumes: this instance was taken for gone. */
  async stop(): Promise<void> {
    if (!this.#options.host.isRunning) return
    await this.#options.host.stop()
    await this.#report()
  }

  async #apply(): Promise<void> {
    const { host, mayConsume, isSwitching, isEnding, onError } = this.#options
    if (isEnding()) return
    if (mayConsume()) {
      if (!this.isActive) void this.start().catch(onError)
    } else if (host.isRunning && !isSwitching()) {
      await host.stop()
    }
    await this.#report().catch(onError)
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

  /** Tells the register that this instance has stopped, and when its health has turned. */
  async #report(): Promise<void> {
    const { troubles } = this.#options
    if ((!this.isActive && this.#isNoted) || troubles() !== this.#told) await this.#tell(this.isActive)
  }

  async #tell(consumes: boolean): Promise<void> {
    const { register, troubles } = this.#options
    const told = troubles()
    if (!consumes && !this.#isNoted && told === this.#told) return
    await register.report({ instance: register.instance, consumes, troubles: told })
    this.#told = told
    this.#isNoted = consumes
    this.#hasBegun &&= consumes
  }
}
