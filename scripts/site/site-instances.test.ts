import t from 'tap'
import type { Test } from 'tap'
import { siteNames } from '../../processors/site/index.js'
import { SiteClusters } from './test-site-clusters.js'
import type { SiteClustersOptions, SiteInstanceProcess } from './test-site-clusters.js'

t.setTimeout(300_000)

const by = { actor: 'someone', reason: 'a test', forwarded: false }

async function siteClusters(t: Test, options: SiteClustersOptions = {}): Promise<SiteClusters> {
  const sites = new SiteClusters(options)
  t.teardown(() => sites.stop())
  await sites.start()
  return sites
}

/** Events all the time to instances that take them, in turn; and how many of each key were taken. */
class Sender {
  readonly acknowledged = new Map<string, number>()
  /** Steps at which no site said 200. */
  bothDown = 0
  readonly #sites: SiteClusters
  #next = 0

  constructor(sites: SiteClusters) {
    this.#sites = sites
    sites.onStep = () => {
      this.#send()
      if (!sites.both.some(({ takesTraffic }) => takesTraffic)) this.bothDown++
    }
  }

  #send(): void {
    const takers = this.#sites.both
      .map((site) => site.running.filter((one) => !one.process.isPaused && one.site.role.takesEvents))
      .find(({ length }) => length > 0)
    const key = `key-${this.#next++ % 20}`
    const taker = takers?.[this.#next % takers.length]
    taker?.site.streams
      .ingest('counting', [{ key, event: { type: 'Counted', data: { key, mode: '' } }, original: null }])
      .then(
        () => this.acknowledged.set(key, (this.acknowledged.get(key) ?? 0) + 1),
        () => undefined,
      )
  }

  /** As each instance of the active site answers. */
  async counted(): Promise<Map<string, number | undefined>[]> {
    const sites = this.#sites
    sites.onStep = () => undefined
    await sites.advance(3000)
    const active = sites.both.find(({ consumes }) => consumes)
    const all: Map<string, number | undefined>[] = []
    for (const instance of active?.running ?? []) {
      const counts = new Map<string, number | undefined>()
      for (const key of this.acknowledged.keys())
        counts.set(key, await sites.while(active?.countOf(key, instance) ?? Promise.resolve(undefined)))
      all.push(counts)
    }
    return all
  }
}

t.test(
  'one instance of a site leads, all act: the tasks of the active one are shared among its instances',
  async (t) => {
    const sites = await siteClusters(t)
    t.same(
      sites.both.map(({ running }) => running.filter(({ site }) => site.leads).length),
      [1, 1],
    )
    t.same(
      sites.instances.map(({ site }) => site.isConsuming),
      [true, true, false, false],
    )
    const tasks = (): number[] => sites.primary.running.map(({ site }) => site.application.tasks.length)
    await sites.until('shared', () => tasks().every((count) => count === 1))
  },
)

t.test(
  'FO-01 of two instances each: a failover and a failback lose nothing, double nothing, and all stop before any consumes',
  async (t) => {
    const sites = await siteClusters(t)
    const sender = new Sender(sites)
    const send = sites.onStep
    let together = 0
    sites.onStep = () => {
      send()
      if (sites.both.every(({ consumes }) => consumes)) together++
    }
    await sites.advance(2000)
    for (const [act, target] of [
      ['failover', 'secondary'],
      ['failback', 'primary'],
    ] as const) {
      const leader = sites.of(target).leader
      await sites.while(Promise.resolve(leader?.site.act(act, by)))
      await sites.until(`${act}ed`, () => sites.isSteady() && sites.of(target).consumes)
      await sites.advance(2000)
    }
    t.same([together, sender.bothDown], [0, 0])
    const all = await sender.counted()
    t.equal(all.length, 2)
    for (const counts of all) t.same(counts, sender.acknowledged)
  },
)

for (const site of siteNames) {
  for (const who of ['the one that leads', 'another']) {
    for (const phase of ['PRELOAD', 'SWITCH', 'CATCHUP', 'STEADY'] as const) {
      t.test(
        `a failover in which ${who} of the ${site} site is killed in ${phase} ends as without, and with all`,
        async (t) => {
          const sites = await siteClusters(t)
          const sender = new Sender(sites)
          await sites.advance(1000)
          const victims = sites.of(site)
          let victim: SiteInstanceProcess | undefined
          const killed: Promise<void>[] = []
          victims.onRecord = (record) => {
            if (record.phase !== phase || victim !== undefined) return
            victim = victims.running.find((one) => one.site.leads === (who === 'the one that leads'))
            if (victim !== undefined) killed.push(victims.kill(victim))
          }
          await sites.while(Promise.resolve(sites.secondary.leader?.site.act('failover', by)))
          await sites.until('failovered', () => sites.isSteady() && sites.secondary.consumes)
          await sites.while(Promise.all(killed))
          // The old site may not hear of a CATCHUP before it is over.
          t.ok(victim !== undefined || (site === 'primary' && phase === 'CATCHUP'))
          if (victim !== undefined) await victims.begin(victim.name)
          await sites.until('steady', () => sites.isSteady() && sites.secondary.running.length === 2)
          await sites.advance(5000)
          t.equal(sender.bothDown, 0, 'never both at 500')
          for (const counts of await sender.counted()) t.same(counts, sender.acknowledged)
          const { signal } = new AbortController()
          const report = await sites.while(Promise.resolve(sites.primary.leader?.site.drill(signal)))
          t.match(report, { ok: true, report: { equal: true } })
        },
      )
    }
  }
}

t.test(
  'FO-09 every instance says of its site whether it is to get traffic: 500 where one of them is not well',
  async (t) => {
    const sites = await siteClusters(t)
    await sites.until('well', () => sites.primary.running.every(({ site }) => site.healthReasons().length === 0))
    const sick = sites.primary.running.find(({ site }) => !site.leads)
    const said = (): number[] => sites.primary.running.map(({ site }) => site.healthReasons().length)
    if (sick !== undefined) sick.troubles = ['the disk is full']
    await sites.advance(9000)
    t.same(said(), [0, 0], 'two bad checks are not enough')
    await sites.until('all say so', () => said().every((reasons) => reasons > 0), 10_000)
    if (sick !== undefined) sick.troubles = []
    await sites.until('and that it is over', () => said().every((reasons) => reasons === 0), 20_000)
  },
)

t.test('a target of which any instance is not well does not take over, until all are', async (t) => {
  const sites = await siteClusters(t)
  const sender = new Sender(sites)
  const sick = sites.secondary.running.find(({ site }) => !site.leads)
  if (sick !== undefined) sick.troubles = ['the disk is full']
  const [waiting] = sites.secondary.running
  await sites.until(
    'all know',
    () => waiting?.site.healthReasons().join().includes('the disk is full') === true,
    30_000,
  )
  await sites.while(Promise.resolve(sites.secondary.leader?.site.act('failover', by)))
  await sites.advance(20_000)
  t.match(sites.secondary.leader?.site.record, { phase: 'PRELOAD', oldAlive: true })
  if (sick !== undefined) sick.troubles = []
  await sites.until('failovered', () => sites.isSteady() && sites.secondary.consumes)
  for (const counts of await sender.counted()) t.same(counts, sender.acknowledged)
  t.equal(sender.bothDown, 0, 'never both at 500')
})
