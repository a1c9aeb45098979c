import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { seededRandom } from '../../common/random.js'
import type { SiteName } from '../../processors/site/index.js'
import { TestSites } from '../site/test-sites.js'
import type { TestSite } from '../site/test-sites.js'
import type { Outcome, Simulation } from './simulation.js'

const STEPS = 10
const KEYS = 15

const by = { actor: 'simulation', reason: '', forwarded: false }
const names: readonly SiteName[] = ['primary', 'secondary']
const happenings = ['failover', 'failback', 'abort', 'cut', 'crash waiting', 'crash active', 'nothing'] as const

/** Events all the time, and every few seconds something that an operator, a network or a machine does. */
export const sites: Simulation = {
  name: 'sites',
  about: 'two sites, the acts of an operator, broken links, skewed clocks and crashes: one active site that has all',
  async run(seed) {
    const run = new SitesRun(seed)
    try {
      return await run.run()
    } catch (thrown) {
      throw new Error(run.story.join(', '), { cause: thrown })
    } finally {
      await run.sites.stop()
    }
  },
}

class SitesRun {
  readonly sites: TestSites
  readonly story: string[]
  readonly #random: () => number
  readonly #acknowledged = new Map<string, number>()
  readonly #sent = new Map<string, number>()
  /** Events may be lost only where a site was cut off or died before its journal was copied. */
  #mayLose = false
  #next = 0

  constructor(seed: number) {
    this.#random = seededRandom(seed)
    const skewMs = Math.round((this.#random() - 0.5) * 120_000)
    this.story = [`skew ${skewMs} ms`]
    this.sites = new TestSites({ random: this.#random, skewMs, settings: { failbackHoldOffMs: 20_000 } })
  }

  async run(): Promise<Outcome> {
    const { sites } = this
    await sites.start()
    for (let step = 0; step < STEPS; step++) {
      sites.onStep = () => this.#send()
      await sites.advance(500 + Math.floor(this.#random() * 4) * 1000)
      sites.onStep = () => undefined
      await this.#happen()
    }
    await sites.until('one active site', () => sites.isSteady(), 300_000)
    await sites.advance(3000)
    await this.#check()
    const happened = JSON.stringify([this.story, [...this.#acknowledged], sites.clock.now()])
    return { trace: createHash('sha256').update(happened).digest('hex').slice(0, 16) }
  }

  #pick<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.#random() * items.length)] as Item
  }

  #send(): void {
    const key = `key-${this.#next++ % KEYS}`
    const taker = this.sites.both.find((site) => site.running?.site.role.takesEvents === true)
    if (taker === undefined) return
    this.#sent.set(key, (this.#sent.get(key) ?? 0) + 1)
    taker.count(key).then(
      () => this.#acknowledged.set(key, (this.#acknowledged.get(key) ?? 0) + 1),
      () => undefined,
    )
  }

  async #happen(): Promise<void> {
    const { sites } = this
    const site = sites.of(this.#pick(names))
    const what = this.#pick(happenings)
    this.story.push(what === 'cut' || what === 'nothing' ? what : `${what} at the ${site.name}`)
    if (what === 'cut') {
      await this.#cut()
    } else if (what === 'crash waiting' || what === 'crash active') {
      await this.#crash(sites.both.find((candidate) => candidate.consumes === (what === 'crash active')) ?? site)
    } else if (what !== 'nothing' && site.running !== undefined) {
      await sites.while(site.site.act(what, by).catch(() => undefined))
    }
  }

  async #cut(): Promise<void> {
    const { sites } = this
    sites.link.isUp = false
    const cutMs = this.#pick([500, 5000, 45_000])
    this.#mayLose ||= cutMs > 20_000
    await sites.advance(cutMs)
    sites.link.isUp = true
    await sites.advance(2000)
  }

  async #crash(victim: TestSite): Promise<void> {
    const downMs = this.#pick([1000, 50_000])
    this.#mayLose ||= downMs > 20_000
    victim.crash()
    await this.sites.advance(downMs)
    await this.sites.while(victim.start())
  }

  async #check(): Promise<void> {
    const active = this.sites.both.find((site) => site.consumes)
    for (const [key, count] of this.#acknowledged) {
      const counted = (await active?.countOf(key)) ?? 0
      const sent = this.#sent.get(key) ?? 0
      assert.ok(counted <= sent, `${key}: ${counted} of ${sent} sent, some twice`)
      if (!this.#mayLose) assert.ok(counted >= count, `${key}: ${counted} for ${count} acknowledged, some lost`)
    }
    if (this.#mayLose) return
    const waiting = this.sites.both.find((site) => !site.consumes)
    assert.ok(waiting !== undefined, 'one site waits')
    const report = await this.sites.while(waiting.site.drill(new AbortController().signal))
    assert.equal((report as { readonly equal?: boolean }).equal, true, 'the waiting site would load the same state')
  }
}
