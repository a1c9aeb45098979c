import type { Test } from 'tap'
import { TestSites } from './test-sites.js'
import type { TestSitesOptions } from './test-sites.js'

export const by = { actor: 'someone', reason: 'a test', forwarded: false }
export const KEYS = 20

/** Both started, until the test ends. */
export async function twoSites(t: Test, options: TestSitesOptions = {}): Promise<TestSites> {
  const sites = new TestSites(options)
  t.teardown(() => sites.stop())
  await sites.start()
  return sites
}

/** Sends events to whoever takes them, and knows how many were acknowledged. */
export class Sender {
  readonly acknowledged = new Map<string, number>()
  readonly #sites: TestSites
  #next = 0

  constructor(sites: TestSites) {
    this.#sites = sites
  }

  /** One at each step of the clock. */
  begin(): void {
    this.#sites.onStep = () => this.send()
  }

  send(): void {
    const key = `key-${this.#next++ % KEYS}`
    const taker = this.#sites.both.find((site) => site.running?.site.role.takesEvents === true)
    taker?.count(key).then(
      () => this.acknowledged.set(key, (this.acknowledged.get(key) ?? 0) + 1),
      () => undefined,
    )
  }

  async end(): Promise<void> {
    this.#sites.onStep = () => undefined
    await this.#sites.advance(1000)
  }

  /** What the active site counts. */
  async counted(): Promise<Map<string, number | undefined>> {
    const active = this.#sites.both.find((site) => site.consumes)
    const counts = new Map<string, number | undefined>()
    for (const key of this.acknowledged.keys()) counts.set(key, await active?.countOf(key))
    return counts
  }
}
