import type { Clock } from '../../common/clock.js'
import type { SiteView } from '../../api/site/site-control.js'
import type { SiteRecord } from '../../processors/site/index.js'
import type { Peer } from './peer.js'

export interface PeerContactOptions {
  readonly clock: Clock
  readonly peer: Pick<Peer, 'exchange'>
  /** This site's record. */
  readonly record: () => SiteRecord
  /** Whoever was not heard for so long is not waited for. */
  readonly silenceMs: number
}

/** What this site knows of the other from the records that they show each other. */
export class PeerContact {
  readonly #options: PeerContactOptions
  #view: SiteView | undefined
  #heardAt: number

  constructor(options: PeerContactOptions) {
    this.#options = options
    this.#heardAt = options.clock.monotonic()
  }

  /** What it said last; undefined: it was not heard in this life. */
  get view(): SiteView | undefined {
    return this.#view
  }

  /** Not heard for a while, since `since` at the earliest. */
  isSilent(since: number): boolean {
    const { clock, silenceMs } = this.#options
    return clock.monotonic() - Math.max(since, this.#heardAt) >= silenceMs
  }

  /** It was heard within this time. */
  wasHeard(withinMs: number): boolean {
    return this.#view !== undefined && this.#options.clock.monotonic() - this.#heardAt < withinMs
  }

  /** Heard within this time, and consuming. */
  hasConsumed(withinMs: number): boolean {
    return this.#view?.consumes === true && this.wasHeard(withinMs)
  }

  /** Shows it this site's record. Rejects when it does not answer. */
  async exchange(): Promise<SiteView & { readonly accepted: boolean }> {
    const { peer, clock, record } = this.#options
    const view = await peer.exchange(record())
    this.#view = view
    this.#heardAt = clock.monotonic()
    return view
  }
}
