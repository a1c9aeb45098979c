import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { seededRandom } from '../../common/random.js'
import { phases, siteNames } from '../../processors/site/index.js'
import { TestSites } from '../site/test-sites.js'
import type { TestSite } from '../site/test-sites.js'
import type { Outcome, Simulation } from './simulation.js'

const STEPS = 10
const KEYS = 15

/** Longer than a site that is not heard of is waited for: the other takes over meanwhile. */
const LONG_MS = 50_000
/** Both sites are active in one epoch no longer than until they meet. */
const TOGETHER_STEPS = 30

const by = { actor: 'simulation', reason: '', forwarded: false }
const acts = ['failover', 'failback', 'abort'] as const
const happenings = [
  ...acts,
  'cut',
  'crash waiting',
  'crash active',
  'crash in a phase',
  'step a clock',
  'nothing',
] as const

/** Events all the time, and every few seconds something that an operator, a network or a machine does. */
export const sites: Simulation = {
  name: 'sites',
  about:
    'two sites, the acts of an operator, broken links, wrong clocks, crashes in every phase: one active site that has all',
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
  #isSending = false
  #next = 0
  #together = 0
  /** What must not be was seen. */
  #violation = ''

  constructor(seed: number) {
    this.#random = seededRandom(seed)
    const skewMs = Math.round((this.#random() - 0.5) * 120_000)
    this.story = [`skew ${skewMs} ms`]
    this.sites = new TestSites({ random: this.#random, skewMs, settings: { failbackHoldOffMs: 20_000 } })
  }

  async run(): Promise<Outcome> {
    const { sites } = this
    sites.onStep = () => {
      if (this.#isSending) this.#send()
      this.#checkEpochs()
    }
    await sites.start()
    for (let step = 0; step < STEPS; step++) {
      this.#isSending = true
      await sites.advance(500 + Math.floor(this.#random() * 4) * 1000)
      this.#isSending = false
      await this.#happen()
      await this.#startDead()
    }
    for (const site of sites.both) site.onRecord = undefined
    await this.#startDead()
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
    const site = sites.of(this.#pick(siteNames))
    const what = this.#pick(happenings)
    switch (what) {
      case 'nothing':
        return
      case 'cut':
        return this.#cut()
      case 'step a clock':
        site.skewMs += Math.round((this.#random() - 0.5) * 60_000)
        this.story.push(`the ${site.name} site's clock is ${site.skewMs} ms off`)
        return
      case 'crash in a phase':
        this.#crashIn(this.#pick(phases), site)
        return
      case 'crash waiting':
      case 'crash active':
        return this.#crash(sites.both.find((candidate) => candidate.consumes === (what === 'crash active')) ?? site)
      default:
        this.story.push(`${what} at the ${site.name} site`)
        if (site.running !== undefined) await sites.attempt(site.site.act(what, by))
    }
  }

  /** When it comes to that phase next, in the middle of what it does. */
  #crashIn(phase: (typeof phases)[number], site: TestSite): void {
    this.story.push(`crash of the ${site.name} site in ${phase}`)
    site.onRecord = (record) => {
      if (record.phase !== phase) return
      site.onRecord = undefined
      site.crash()
    }
  }

  async #startDead(): Promise<void> {
    for (const site of this.sites.both) if (site.running === undefined) await this.sites.while(site.start())
  }

  #checkEpochs(): void {
    const { both, link } = this.sites
    const [a, b] = both.map((site) => site.running?.site)
    const areBoth = a?.role.consumes === true && b?.role.consumes === true && a.record.epoch === b.record.epoch
    // A target that does not hear of the old site goes on without it: cut off, that one cannot know.
    this.#together = areBoth && link.isUp ? this.#together + 1 : 0
    if (this.#together > TOGETHER_STEPS) this.#violation ||= `both are active in epoch ${a?.record.epoch}`
  }

  async #cut(): Promise<void> {
    const { sites } = this
    sites.link.isUp = false
    const cutMs = this.#pick([500, 5000, 5000, LONG_MS])
    this.#mayLose ||= cutMs === LONG_MS
    this.story.push(`cut for ${cutMs} ms`)
    await sites.advance(cutMs)
    sites.link.isUp = true
    await sites.advance(2000)
  }

  async #crash(victim: TestSite): Promise<void> {
    const downMs = this.#pick([1000, 1000, LONG_MS])
    this.#mayLose ||= downMs === LONG_MS && victim.running?.site.record.active === victim.name
    this.story.push(`crash of the ${victim.name} site for ${downMs} ms`)
    victim.crash()
    await this.sites.advance(downMs)
  }

  async #check(): Promise<void> {
    assert.equal(this.#violation, '')
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
    const result = await this.sites.while(waiting.site.drill(new AbortController().signal))
    assert.ok(result.ok && result.report.equal, 'the waiting site would load the same state')
  }
}
