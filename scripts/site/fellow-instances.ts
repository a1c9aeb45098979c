import { isNewer } from '../../processors/site/index.js'
import type { SiteInstance, SiteRecord, SiteRegister } from '../../processors/site/index.js'
import type { RegisterClient } from './register-client.js'

/** The other instances of this site: who they are by the group, and what they do by the register. */
export class FellowInstances {
  readonly #register: RegisterClient
  #noted: readonly SiteInstance[] = []
  #areThere = false

  constructor(register: RegisterClient) {
    this.#register = register
  }

  /** There are others, or there were when the group was heard last. */
  get areThere(): boolean {
    const { isCurrent, instances } = this.#register
    if (isCurrent) this.#areThere = instances.length > 1
    return this.#areThere
  }
  /** Those that consume, or are not well, as the register was heard last. */
  get noted(): readonly SiteInstance[] {
    return this.#noted.filter(({ instance }) => instance !== this.#register.instance)
  }

  /** The register was heard. */
  note({ instances }: SiteRegister): void {
    this.#noted = instances
  }

  /** For the one that leads: who is no more counted in by the group has ceased to act by itself. */
  async strikeOffGone(): Promise<void> {
    const { instances } = this.#register
    for (const { instance } of this.#noted) {
      if (!instances.includes(instance)) await this.#register.report({ instance, consumes: false, troubles: '' })
    }
  }

  /** Some other consumes, or may begin to: the register does not have this record yet, or does not answer. */
  async consume(shown: SiteRecord): Promise<boolean> {
    if (!this.areThere) return false
    const found = await this.#register.read()
    if (found === undefined || isNewer(shown, found.record)) return true
    this.note(found)
    return this.noted.some(({ consumes }) => consumes)
  }
}
