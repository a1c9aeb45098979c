import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { seededRandom } from '../../common/random.js'
import { phases, siteNames } from '../../processors/site/index.js'
import { SiteClusters } from '../site/test-site-clusters.js'
import type { SiteCluster, SiteInstanceProcess } from '../site/test-site-clusters.js'
import type { Outcome, Simulation } from './simulation.js'

const STEPS = 8
const KEYS = 15
/** Longer than a site that is not heard of is waited for. */
const LONG_MS = 50_000
/** Both sites consume in one epoch no longer than until the one that rests has stopped. */
const TOGETHER_STEPS = 40

const by = { actor: 'simulation', reason: '', forwarded: false }
const acts = ['failover', 'failback', 'abort'] as const
const happenings = [
  ...acts,
  ...acts,
  'cut',
  'kill',
  'kill in a phase',
  'pause',
  'pause in a phase',
  'kill a site',
] as const

/** Events all the time, and every few seconds something that an operator, a network or a machine does. */
export const siteInstances: Simulation = {
  name: 'site-instances',
  about: 'two sites of several instances: acts, broken links, instances killed and paused in every phase',
  async run(seed) {
    const run = new SiteInstancesRun(seed)
    try {
      return await run.run()
    } catch (thrown) {
      throw new Error(`${run.story.join(', ')}\n${run.sites.tell()}\n${run.sites.errors.slice(-8).join('\n')}`, {
        cause: thrown,
      })
    } finally {
      await run.sites.stop()
    }
  },
}

class SiteInstancesRun {
  readonly sites: SiteClusters
  readonly story: string[] = []
  readonly #random: () => number
  readonly #acknowledged = new Map<string, number>()
  readonly #sent = new Map<string, number>()
  /** Events may be lost only where a site was cut off, or all of it died, or what it did was held up. */
  #mayLose = false
  #isSending = false
  #next = 0
  #together = 0
  /** What must not be was seen. */
  #violation = ''
  readonly #under: Promise<void>[] = []

  constructor(seed: number) {
    this.#random = seededRandom(seed)
    const settings = { failbackHoldOffMs: 20_000 }
    this.sites = new SiteClusters({ random: this.#random, settings, instances: this.#random() < 0.5 ? 2 : 3 })
  }

  async run(): Promise<Outcome> {
    const { sites } = this
    sites.onStep = () => {
      if (this.#isSending) this.#send()
      this.#checkTogether()
    }
    await sites.start()
    for (let step = 0; step < STEPS; step++) {
      this.#isSending = true
      await sites.advance(500 + Math.floor(this.#random() * 4) * 1500)
      this.#isSending = false
      await this.#happen()
      if (this.#random() < 0.7) await this.#startDead()
    }
    for (const site of sites.both) site.onRecord = undefined
    await sites.while(Promise.all(this.#under))
    await this.#startDead()
    await sites.until('one active site', () => sites.isSteady(), 400_000)
    await sites.advance(5000)
    await this.#check()
    const happened = JSON.stringify([this.story, [...this.#acknowledged], sites.clock.now()])
    return { trace: createHash('sha256').update(happened).digest('hex').slice(0, 16) }
  }

  #pick<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.#random() * items.length)] as Item
  }

  #send(): void {
    const key = `key-${this.#next++ % KEYS}`
    const takers = this.sites.both
      .map((site) => site.running.filter(({ process, site: { role } }) => !process.isPaused && role.takesEvents))
      .find(({ length }) => length > 0)
    if (takers === undefined) return
    this.#sent.set(key, (this.#sent.get(key) ?? 0) + 1)
    this.sites.primary.count(key, this.#pick(takers)).then(
      () => this.#acknowledged.set(key, (this.#acknowledged.get(key) ?? 0) + 1),
      () => undefined,
    )
  }

  async #happen(): Promise<void> {
    const { sites } = this
    const site = sites.of(this.#pick(siteNames))
    const what = this.#pick(happenings)
    if (what === 'cut') await this.#cut()
    else if (what === 'kill') this.#kill(site, this.#pick(site.running))
    else if (what === 'pause') this.#pause(site, this.#pick(site.running))
    else if (what === 'kill in a phase') this.#inPhase(site, (victim) => this.#kill(site, victim))
    else if (what === 'pause in a phase') this.#inPhase(site, (victim) => this.#pause(site, victim))
    else if (what === 'kill a site') this.#killAll(site)
    else await this.#act(what, site)
  }

  async #act(act: (typeof acts)[number], { name, leader }: SiteCluster): Promise<void> {
    this.story.push(`${act} at the ${name} site`)
    if (leader !== undefined) await this.sites.attempt(leader.site.act(act, by))
  }

  /** When the site comes to some phase next, to the one that leads or to another. */
  #inPhase(site: SiteCluster, befall: (victim: SiteInstanceProcess) => void): void {
    const phase = this.#pick(phases)
    const isLeader = this.#random() < 0.6
    this.story.push(`in ${phase} of the ${site.name} site:`)
    site.onRecord = (record) => {
      if (record.phase !== phase) return
      site.onRecord = undefined
      const victim = site.running.find((one) => one.site.leads === isLeader)
      if (victim !== undefined) befall(victim)
    }
  }

  #kill(site: SiteCluster, victim: SiteInstanceProcess | undefined): void {
    if (victim === undefined) return
    this.story.push(`kill ${victim.name}${victim.site.leads ? ', which leads' : ''}`)
    this.#mayLose ||= site.running.length === 1
    this.#under.push(site.kill(victim))
  }

  #killAll(site: SiteCluster): void {
    this.#mayLose = true
    for (const victim of [...site.running]) this.#kill(site, victim)
  }

  #pause(site: SiteCluster, victim: SiteInstanceProcess | undefined): void {
    if (victim === undefined || victim.process.isPaused) return
    const ms = this.#pick([2000, 9000, 25_000])
    // What was under way in it is told to have been taken, when another site may be active.
    this.#mayLose = true
    this.story.push(`pause ${victim.name}${victim.site.leads ? ', which leads,' : ''} for ${ms} ms`)
    this.#under.push(site.pause(victim, ms))
  }

  async #startDead(): Promise<void> {
    for (const site of this.sites.both) {
      for (const name of site.names) {
        if (site.isFree(name)) await site.begin(name)
      }
    }
  }

  #checkTogether(): void {
    const [a, b] = this.sites.both.map(({ running }) =>
      running.filter(({ process, site }) => !process.isPaused && site.isConsuming),
    )
    const both = (a ?? []).flatMap((one) =>
      (b ?? []).filter((other) => other.site.record.epoch === one.site.record.epoch),
    )
    // A target that does not hear of the old site goes on without it: cut off, that one cannot know.
    this.#together = both.length > 0 && this.sites.link.isUp ? this.#together + 1 : 0
    const [one] = both
    if (this.#together > TOGETHER_STEPS) this.#violation ||= `both consume in epoch ${one?.site.record.epoch}`
  }

  async #cut(): Promise<void> {
    const { sites } = this
    sites.link.isUp = false
    const cutMs = this.#pick([500, 5000, LONG_MS])
    this.#mayLose ||= cutMs === LONG_MS
    this.story.push(`cut for ${cutMs} ms`)
    await sites.advance(cutMs)
    sites.link.isUp = true
    await sites.advance(2000)
  }

  async #check(): Promise<void> {
    const { sites } = this
    assert.equal(this.#violation, '')
    const active = sites.both.find((site) => site.consumes)
    const asked = this.#pick(active?.running ?? [])
    for (const [key, count] of this.#acknowledged) {
      const counted = (await sites.while(Promise.resolve(active?.countOf(key, asked)))) ?? -1
      const sent = this.#sent.get(key) ?? 0
      assert.ok(counted >= 0, `${key}: ${asked.name} does not answer`)
      assert.ok(counted <= sent, `${key}: ${counted} of ${sent} sent, some twice`)
      if (!this.#mayLose) assert.ok(counted >= count, `${key}: ${counted} for ${count} acknowledged, some lost`)
    }
    if (this.#mayLose) return
    const waiting = sites.both.find((site) => !site.consumes)?.leader
    const result = await sites.while(Promise.resolve(waiting?.site.drill(new AbortController().signal)))
    assert.ok(result?.ok === true && result.report.equal, 'the waiting site would load the same state')
  }
}
