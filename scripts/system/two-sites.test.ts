import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import type { Settings } from '../../common/settings.js'
import { percentile } from '../benchmarks/figure.js'
import { PLUGIN, temporaryFolder } from './fixtures.js'
import type { Level } from './http-client.js'
import { spawnPulsefold } from './real-process.js'
import type { RealProcess } from './real-process.js'
import { tcpProxy } from './tcp-proxy.js'
import type { TcpProxy } from './tcp-proxy.js'
import { until } from './until.js'

type SiteName = 'primary' | 'secondary'
const names = ['primary', 'secondary'] as const
const DEVICES = 400
const BATCH = 50
/** 1,000 events a second. */
const BATCH_EVERY_MS = 50

interface SiteStatus {
  readonly active: SiteName
  readonly target?: SiteName
  readonly epoch: number
  readonly phase: string
  readonly kind: string
  readonly error?: string
  readonly lastSwitch?: {
    readonly untilTrafficMs: number
    readonly untilSteadyMs: number
    readonly lossWindowMs: number
  }
}

/** Two complete sites as processes of their own, and a network between them that can be broken either way. */
class TwoSites {
  readonly #t: Test
  readonly #folders: Readonly<Record<SiteName, string>>
  readonly #values: Partial<Settings>
  /** On the way to each site from the other. */
  readonly ways: Readonly<Record<SiteName, TcpProxy>>
  readonly processes = new Map<SiteName, RealProcess>()

  private constructor(t: Test, values: Partial<Settings>, ways: Record<SiteName, TcpProxy>) {
    this.#t = t
    this.#values = values
    this.ways = ways
    const folder = temporaryFolder(t)
    this.#folders = { primary: join(folder, 'primary'), secondary: join(folder, 'secondary') }
    for (const name of names) mkdirSync(this.#folders[name])
  }

  static async start(t: Test, values: Partial<Settings> = {}): Promise<TwoSites> {
    const sites = new TwoSites(t, values, { primary: await tcpProxy(t), secondary: await tcpProxy(t) })
    await Promise.all(names.map((name) => sites.begin(name)))
    await until('the primary takes traffic', () => sites.healthIs('primary', 200))
    await until('the secondary has its mirror', async () => (await sites.mirrorLagMs('secondary')) !== null)
    return sites
  }

  async begin(name: SiteName): Promise<void> {
    const other = name === 'primary' ? 'secondary' : 'primary'
    const process = spawnPulsefold(this.#t, this.#folders[name], {
      values: {
        siteName: name,
        sitePeerUrl: this.ways[other].url,
        sitePeerToken: 'between us',
        siteHealthIntervalMs: 200,
        siteCheckIntervalMs: 1000,
        ...this.#values,
      },
    })
    this.processes.set(name, process)
    this.ways[name].target = Number(new URL(await process.ready).port)
  }

  site(name: SiteName): RealProcess {
    const process = this.processes.get(name)
    if (process === undefined) throw new Error(`the ${name} site does not run`)
    return process
  }

  status(name: SiteName): Promise<SiteStatus> {
    return this.site(name).json<SiteStatus>('/site')
  }

  async mirrorLagMs(name: SiteName): Promise<number | null> {
    return (await this.site(name).json<{ mirrorLagMs: number | null }>('/site')).mirrorLagMs
  }

  async health(name: SiteName): Promise<number> {
    return (await this.site(name).ask('/notification/healthCheck')).status
  }

  async healthIs(name: SiteName, wanted: number): Promise<boolean> {
    return (await this.health(name)) === wanted
  }

  act(act: 'failover' | 'failback' | 'abort', at: SiteName) {
    return this.site(at).ask(`/site/${act}`, { method: 'POST', body: { actor: 'test', reason: 'a test' } })
  }

  async said(act: 'failover' | 'failback', at: SiteName): Promise<string> {
    return (JSON.parse((await this.act(act, at)).text) as { status: string }).status
  }

  async untilSaid(act: 'failover' | 'failback', at: SiteName, word: string): Promise<void> {
    await until(`${act} says ${word}`, async () => (await this.said(act, at)) === word, 60_000)
  }

  async kill(name: SiteName): Promise<void> {
    const process = this.site(name)
    process.kill('SIGKILL')
    await process.ended
    this.processes.delete(name)
  }
}

const devices = Array.from({ length: DEVICES }, (_, index) => `dev-${index}`)

/** Heartbeats at 1,000 a second to whichever site takes them, and what was acknowledged last of each device. */
class Reporter {
  readonly #sites: TwoSites
  readonly #first: SiteName
  #isStopped = false
  #round = 0
  readonly last = new Map<string, { readonly level: Level; readonly time: string }>()
  refused = 0
  readonly #done: Promise<void>

  constructor(sites: TwoSites, first: SiteName) {
    this.#sites = sites
    this.#first = first
    this.#done = this.#run()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#done
  }

  async #run(): Promise<void> {
    let at = this.#first
    while (!this.#isStopped) {
      const due = performance.now() + BATCH_EVERY_MS
      const level = Math.floor(this.#round / (DEVICES / BATCH)) % 2 === 0 ? 'NONE' : 'COMPLETE'
      const from = (this.#round * BATCH) % DEVICES
      const time = new Date(Date.now() - 1000).toISOString()
      const some = devices.slice(from, from + BATCH)
      try {
        await this.#sites.site(at).report(
          some.map((device) => [device, level] as const),
          time,
        )
        for (const device of some) this.last.set(device, { level, time })
        this.#round++
      } catch {
        this.refused++
        at = at === 'primary' ? 'secondary' : 'primary'
      }
      await pause(Math.max(0, due - performance.now()))
    }
  }

  /** Devices whose last acknowledged report is not what the site says. */
  async lost(at: SiteName): Promise<string[]> {
    const lost: string[] = []
    for (const [device, { level, time }] of this.last) {
      const path = `/ncmp/v1/ch/${device}?evidence=true`
      const { trustLevel, trustEvidence } = await this.#sites.site(at).json<{
        trustLevel: Level
        trustEvidence: { lastHeartbeat: string }
      }>(path)
      if (trustLevel !== level || trustEvidence.lastHeartbeat !== time)
        lost.push(`${device} ${trustLevel} not ${level}`)
    }
    return lost
  }
}

/** What both health addresses say, again and again. */
class HealthLog {
  readonly seen: (readonly [primary: number, secondary: number])[] = []
  readonly answersMs: number[] = []
  #isStopped = false
  readonly #done: Promise<void>

  constructor(sites: TwoSites) {
    this.#done = this.#run(sites)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#done
  }

  async #run(sites: TwoSites): Promise<void> {
    while (!this.#isStopped) {
      const asked = performance.now()
      // One after the other: what is 500 must have been seen beside what is 200.
      const [secondary, primary] = [await sites.health('secondary'), await sites.health('primary')]
      this.answersMs.push((performance.now() - asked) / 2)
      this.seen.push([primary, secondary])
      await pause(10)
    }
  }
}

t.test('FO-01 a failover and a failback under 1,000 events a second: one run each, nothing lost', async (t) => {
  const sites = await TwoSites.start(t)
  await sites.site('primary').register(PLUGIN, devices)
  const reporter = new Reporter(sites, 'primary')
  await pause(2000)
  for (const [act, old, target] of [
    ['failover', 'primary', 'secondary'],
    ['failback', 'secondary', 'primary'],
  ] as const) {
    const health = new HealthLog(sites)
    t.same(await Promise.all([sites.said(act, old), sites.said(act, old)]), [`${act}ing`, `${act}ing`])
    t.match(await sites.said(act, old), /ing$|ed$/)
    await sites.untilSaid(act, old, `${act}ed`)
    t.equal(await sites.said(act, target), `${act}ed`, 'and at the target')
    await until('the old site is at 500', () => sites.healthIs(old, 500))
    await health.stop()
    t.comment(`health addresses answered within ${percentile(health.answersMs, 0.99).toFixed(1)} ms, 99 % of them`)
    t.notOk(
      health.seen.some(([primary, secondary]) => primary === 500 && secondary === 500),
      'never both at 500',
    )
    t.equal(await sites.health(target), 200)
    const { epoch, lastSwitch } = await sites.status(target)
    t.equal(epoch, act === 'failover' ? 2 : 3, 'one run')
    t.equal(lastSwitch?.lossWindowMs, 0)
    await pause(1000)
  }
  await reporter.stop()
  t.ok(reporter.last.size === DEVICES)
  await until('all is folded', async () => (await reporter.lost('primary')).length === 0).catch(() => undefined)
  t.same(await reporter.lost('primary'), [])
  t.comment(`${reporter.refused} batches were refused and sent elsewhere`)
})

t.test('a site that is not active passes writing on, refuses reading, and says who is active', async (t) => {
  const sites = await TwoSites.start(t)
  const secondary = sites.site('secondary')
  await secondary.register(PLUGIN, ['dev-1'])
  t.equal(await sites.site('primary').level('dev-1'), 'COMPLETE')
  const { status, headers } = await secondary.ask('/ncmp/v1/ch/dev-1')
  t.equal(status, 503)
  t.match(headers, { 'x-pulsefold-active-site': 'primary', 'retry-after': '1' })
  for (const path of ['/ops/health/live', '/ops/health/ready']) t.equal((await secondary.ask(path)).status, 200, path)
  t.equal((await secondary.ask('/site/record', { method: 'PUT', body: {} })).status, 401)
  sites.ways.primary.set('refuse')
  t.match(await secondary.registration({ dmiPlugin: PLUGIN, createdCmHandles: [{ cmHandle: 'dev-2' }] }), {
    status: 503,
  })
  sites.ways.secondary.set('refuse')
  t.match(await sites.act('failover', 'primary'), { status: 503 }, 'the target of this act cannot be reached')
  t.equal((await sites.status('primary')).phase, 'STEADY')
})

t.test('FO-07 the opposite request is refused while a switch is running', async (t) => {
  const sites = await TwoSites.start(t)
  sites.ways.primary.set('stall')
  t.equal(await sites.said('failover', 'secondary'), 'failovering')
  const refused = await sites.act('failback', 'secondary')
  t.match(refused, { status: 409, text: /a failover is in phase (PRELOAD|SWITCH)/ })
  sites.ways.primary.set('refuse')
  sites.ways.primary.set('pass')
  await sites.untilSaid('failover', 'secondary', 'failovered')
})

t.test('the primary is killed: the secondary takes over within three checks and a tick', async (t) => {
  const sites = await TwoSites.start(t)
  await sites.site('primary').register(PLUGIN, devices)
  const reporter = new Reporter(sites, 'primary')
  await pause(2000)
  await reporter.stop()
  const stopped = performance.now()
  await until('the mirror has all of it', async () => {
    const lagMs = await sites.mirrorLagMs('secondary')
    return lagMs !== null && lagMs < performance.now() - stopped - 1000
  })
  await sites.kill('primary')
  await until('taken over', () => sites.healthIs('secondary', 200), 15_000)
  await until('steady', async () => (await sites.status('secondary')).phase === 'STEADY')
  t.match(await sites.status('secondary'), { active: 'secondary', kind: 'automatic', epoch: 2 })
  t.same(await reporter.lost('secondary'), [])
  await sites.begin('primary')
  await until('the primary has heard', async () => (await sites.status('primary')).epoch === 2)
  t.equal(await sites.health('primary'), 500)
})

t.test('a broken and healed network: one site is active, the one of the higher epoch', async (t) => {
  const sites = await TwoSites.start(t)
  for (const name of names) sites.ways[name].set('refuse')
  await until('taken over', () => sites.healthIs('secondary', 200), 20_000)
  await until('steady', async () => (await sites.status('secondary')).phase === 'STEADY')
  t.equal(await sites.health('primary'), 200, 'two sites alone cannot rule that out')
  for (const name of names) sites.ways[name].set('pass')
  await until('the primary gives way', () => sites.healthIs('primary', 500))
  t.match(await sites.status('primary'), { active: 'secondary', epoch: 2 })
  t.equal((await sites.site('primary').ask('/ops/health/live')).status, 200)
})

t.test('a target that is killed in PRELOAD goes on with the same switch', async (t) => {
  const sites = await TwoSites.start(t, { siteAutomaticSwitch: false })
  await sites.site('primary').register(PLUGIN, devices)
  sites.ways.primary.set('stall')
  t.equal(await sites.said('failover', 'secondary'), 'failovering')
  await until('PRELOAD', async () => (await sites.status('secondary')).phase === 'PRELOAD')
  await sites.kill('secondary')
  sites.ways.primary.set('refuse')
  sites.ways.primary.set('pass')
  await sites.begin('secondary')
  await sites.untilSaid('failover', 'primary', 'failovered')
  t.equal((await sites.status('secondary')).epoch, 2)
  t.equal(await sites.site('secondary').level('dev-1'), 'COMPLETE')
})

t.test('FO-09 without the other site: liveness and readiness stay, and no process restarts', async (t) => {
  const sites = await TwoSites.start(t, { siteAutomaticSwitch: false })
  for (const name of names) sites.ways[name].set('stall')
  await pause(4000)
  for (const name of names) {
    t.equal((await sites.site(name).ask('/ops/health/live')).status, 200, name)
    t.equal((await sites.site(name).ask('/ops/health/ready')).status, 200, name)
  }
  t.equal(await sites.health('primary'), 200)
  for (const name of names) {
    sites.ways[name].set('refuse')
    sites.ways[name].set('pass')
  }
  await until('the mirror goes on', async () => ((await sites.mirrorLagMs('secondary')) ?? 9999) < 1000, 60_000)
})
