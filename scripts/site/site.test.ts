import t from 'tap'
import type { Test } from 'tap'
import type { Phase } from '../../processors/site/index.js'
import { PARTITIONS } from './test-site-parts.js'
import { TestSites } from './test-sites.js'
import type { TestSitesOptions } from './test-sites.js'

const by = { actor: 'someone', reason: 'a test', forwarded: false }
const KEYS = 20

async function twoSites(t: Test, options: TestSitesOptions = {}): Promise<TestSites> {
  const sites = new TestSites(options)
  t.teardown(() => sites.stop())
  await sites.start()
  return sites
}

/** Sends events to whoever takes them, and knows how many were acknowledged. */
class Sender {
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

t.test('the primary is active first, the secondary waits', async (t) => {
  const sites = await twoSites(t)
  t.same(
    sites.both.map((site) => [site.consumes, site.takesTraffic]),
    [
      [true, true],
      [false, false],
    ],
  )
  await sites.primary.count('a')
  await sites.advance(200)
  t.equal(await sites.primary.countOf('a'), 1)
  await t.rejects(sites.secondary.count('a'), { code: 'LOG_UNAVAILABLE' })
  t.ok(sites.secondary.site.readiness().ready)
})

t.test('a site shows its journals to the other one, and no other topic', async (t) => {
  const sites = await twoSites(t)
  const { signal } = new AbortController()
  const topics = ['test-counting-journal', 'test-site-site-journal', 'test-dead-letters', 'count-changes']
  const wanted = topics.flatMap((topic) => [0, PARTITIONS].map((partition) => ({ topic, partition, offset: 0 })))
  const parts = await sites.while(sites.primary.site.history(wanted, 0, signal))
  t.match(parts, [{ topic: 'test-counting-journal', partition: 0 }])
  t.equal(parts.length, 1)
})

t.test('FO-01 a failover asked for at the primary by several is one run, and loses and doubles nothing', async (t) => {
  const sites = await twoSites(t)
  const sender = new Sender(sites)
  sender.begin()
  await sites.advance(5000)
  const send = sites.onStep
  const health: boolean[][] = []
  sites.onStep = () => {
    send()
    health.push(sites.both.map((site) => site.takesTraffic))
  }
  const { site } = sites.primary
  const concurrent = Promise.all([site.act('failover', by), site.act('failover', by)])
  t.match(await sites.while(concurrent), [
    { ok: true, status: 'failovering', epoch: 2 },
    { ok: true, status: 'failovering', epoch: 2 },
  ])
  t.match(await sites.while(site.act('failover', by)), { ok: true, epoch: 2 })
  await sites.until('failovered', () => sites.isSteady() && sites.secondary.consumes)
  t.match(await sites.while(site.act('failover', by)), { ok: true, status: 'failovered', epoch: 2, phase: 'STEADY' })
  await sites.advance(2000)
  await sender.end()
  t.same(await sender.counted(), sender.acknowledged)
  t.ok(
    health.every((both) => both.includes(true)),
    'never were both at 500',
  )
  t.same(health.at(-1), [false, true])
  t.match(JSON.parse(sites.primary.site.record.report), {
    epoch: 2,
    kind: 'manual',
    target: 'secondary',
    lossWindowMs: 0,
  })
  t.same(sites.errors, [])

  await sites.while(sites.secondary.site.act('failback', by))
  await sites.until('failbacked', () => sites.isSteady() && sites.primary.consumes)
  t.same(await sender.counted(), sender.acknowledged, 'and back again')
})

t.test('FO-07 the opposite request is refused in each phase, and the switch ends undisturbed', async (t) => {
  for (const [act, opposite, from] of [
    ['failover', 'failback', 'primary'],
    ['failback', 'failover', 'secondary'],
  ] as const) {
    const sites = await twoSites(t)
    if (from === 'secondary') {
      await sites.while(sites.primary.site.act('failover', by))
      await sites.until('failovered', () => sites.isSteady() && sites.secondary.consumes)
    }
    const { site: target } = sites.of(from === 'primary' ? 'secondary' : 'primary')
    const refused = new Map<Phase, boolean>()
    await sites.while(target.act(act, by))
    const { epoch } = target.record
    while (target.record.phase !== 'STEADY') {
      const { phase } = target.record
      const result = await sites.while(target.act(opposite, by))
      if (target.record.phase === phase) refused.set(phase, !result.ok && result.reason === 'conflict')
      await sites.advance(50)
    }
    t.ok([...refused.values()].every(Boolean), [...refused.keys()].join())
    t.ok(refused.has('PRELOAD'))
    t.match(target.record, { epoch, active: target.site })
  }
})

t.test('FO-07 so it is in stage two, at both sites', async (t) => {
  for (const phase of ['SWITCH', 'CATCHUP'] as const) {
    const sites = await twoSites(t)
    await sites.while(sites.primary.count('a'))
    let letGo = (): void => undefined
    const held = new Promise<void>((resolve) => (letGo = resolve))
    // In SWITCH it waits for the old site's word, in CATCHUP for its own disk.
    sites.secondary.onRecord = (record) => {
      if (record.phase !== phase) return
      if (phase === 'SWITCH') sites.link.isUp = false
      else sites.secondary.onWrite = (store) => (store.startsWith('counting-') ? held : undefined)
    }
    await sites.while(sites.primary.site.act('failover', by))
    await sites.until(phase, () => sites.secondary.site.record.phase === phase)
    await sites.advance(500)
    for (const { name, site } of sites.both) {
      const refused = await sites.while(site.act('failback', by))
      t.match(refused, { ok: false, reason: 'conflict' }, `${phase} at the ${name} site`)
    }
    t.equal(sites.secondary.site.record.phase, phase)
    sites.link.isUp = true
    sites.secondary.onWrite = undefined
    letGo()
    await sites.until('failovered', () => sites.isSteady() && sites.secondary.consumes)
    t.match(sites.secondary.site.record, { epoch: 2, active: 'secondary' }, 'undisturbed')
    t.equal(await sites.secondary.countOf('a'), 1)
    await sites.stop()
  }
})

t.test('FO-02 a history that fails half-way: retried from a cleared cache, the old site works on', async (t) => {
  const sites = await twoSites(t)
  for (let n = 0; n < 50; n++) await sites.while(sites.primary.count(`key-${n % KEYS}`))
  await sites.advance(1000)
  let faults = 2
  sites.secondary.onWrite = (name) => {
    if (name.startsWith('counting') && faults > 0) {
      faults--
      throw new Error('the history cannot be read')
    }
  }
  await sites.while(sites.primary.site.act('failover', by))
  await sites.until('the error shows', () => sites.secondary.site.record.error !== '')
  t.match(sites.secondary.site.record, { phase: 'PRELOAD', attempt: 2, error: 'the history cannot be read' })
  t.same(
    sites.both.map((site) => [site.consumes, site.takesTraffic]),
    [
      [true, true],
      [false, false],
    ],
  )
  t.match(await sites.while(sites.primary.site.act('failover', by)), { status: 'failovering', epoch: 2 })
  await sites.until('failovered', () => sites.isSteady() && sites.secondary.consumes)
  t.equal(await sites.secondary.countOf('key-1'), 3)
})

t.test('a history that stays away: three retries, then FAILED; the next request begins anew', async (t) => {
  const sites = await twoSites(t)
  await sites.while(sites.primary.count('a'))
  sites.secondary.onWrite = (name) => {
    if (name.startsWith('counting')) throw new Error('the history cannot be read')
  }
  await sites.while(sites.primary.site.act('failover', by))
  await sites.until('FAILED', () => sites.primary.site.record.phase === 'FAILED', 200_000)
  t.match(sites.secondary.site.record, { attempt: 4, error: 'the history cannot be read', active: 'primary' })
  t.same(
    sites.both.map((site) => [site.consumes, site.takesTraffic]),
    [
      [true, true],
      [false, false],
    ],
  )
  sites.secondary.onWrite = undefined
  t.match(await sites.while(sites.primary.site.act('failover', by)), { status: 'failovering', epoch: 3 })
  await sites.until('failovered', () => sites.isSteady() && sites.secondary.consumes)
  t.equal(await sites.secondary.countOf('a'), 1)
})

t.test('a pre-load that does not get to its end has failed at the time limit', async (t) => {
  const sites = await twoSites(t, { settings: { preloadTimeoutMs: 20_000, automaticSwitch: false } })
  await sites.while(sites.secondary.site.act('failover', by))
  sites.link.isUp = false
  await sites.until('FAILED', () => sites.secondary.site.record.phase === 'FAILED', 30_000)
  t.match(sites.secondary.site.record, { error: 'the pre-load took longer than 20000 ms', attempt: 1 })
  sites.link.isUp = true
  await sites.until('told', () => sites.primary.site.record.phase === 'FAILED')
  t.ok(sites.primary.consumes && sites.primary.takesTraffic)
})

t.test('an abort in PRELOAD leaves the old site active, under a new epoch; later there is none', async (t) => {
  const sites = await twoSites(t)
  t.match(await sites.while(sites.primary.site.act('abort', by)), { ok: false, reason: 'conflict' })
  sites.secondary.troubles = ['not well']
  await sites.advance(20_000)
  await sites.while(sites.primary.site.act('failover', by))
  await sites.advance(3000)
  t.match(await sites.while(sites.primary.site.act('abort', by)), {
    ok: true,
    status: 'aborted',
    epoch: 3,
    phase: 'STEADY',
  })
  sites.secondary.troubles = []
  await sites.advance(20_000)
  t.ok(sites.isSteady() && sites.primary.consumes)
})

t.test('a target that is not well does not take over', async (t) => {
  const sites = await twoSites(t, { settings: { preloadTimeoutMs: 60_000 } })
  sites.secondary.troubles = ['not well']
  await sites.advance(20_000)
  await sites.while(sites.primary.site.act('failover', by))
  await sites.until('FAILED', () => sites.secondary.site.record.phase === 'FAILED', 70_000)
  t.ok(sites.primary.consumes)
})

t.test(
  'the primary dies: the secondary is active within three checks and a tick; and back after the hold-off',
  async (t) => {
    const sites = await twoSites(t, { settings: { failbackHoldOffMs: 60_000 } })
    const sender = new Sender(sites)
    sender.begin()
    await sites.advance(15_000)
    await sender.end()
    await sites.advance(2000)
    sites.primary.crash()
    const died = sites.clock.monotonic()
    await sites.until('taken over', () => sites.secondary.takesTraffic, 40_000)
    t.ok(sites.clock.monotonic() - died <= 3 * 11_000 + 1000 + 500, `${sites.clock.monotonic() - died} ms`)
    await sites.until('steady', () => sites.secondary.consumes && sites.secondary.site.record.phase === 'STEADY', 5000)
    t.match(sites.secondary.site.record, { epoch: 2, kind: 'automatic', oldAlive: false })
    await sites.advance(500)
    t.same(await sender.counted(), sender.acknowledged)

    await sites.while(sites.primary.start())
    await sites.advance(3000)
    t.ok(sites.isSteady() && sites.secondary.consumes, 'the primary does not come back at once')
    sender.begin()
    await sites.until('failed back', () => sites.isSteady() && sites.primary.consumes, 100_000)
    await sites.advance(1000)
    await sender.end()
    t.same(await sender.counted(), sender.acknowledged)
  },
)

t.test('after a switch by request nothing goes back by itself', async (t) => {
  const sites = await twoSites(t, { settings: { failbackHoldOffMs: 10_000 } })
  await sites.while(sites.primary.site.act('failover', by))
  await sites.until('failovered', () => sites.isSteady() && sites.secondary.consumes)
  await sites.advance(60_000)
  t.ok(sites.secondary.consumes)
})

t.test(
  'FO-06 a health that flaps every 5 s for 5 minutes: one failover at most, and no way back meanwhile',
  async (t) => {
    let seed = 1
    const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647
    const sites = await twoSites(t, { random })
    const epochs = new Set<number>()
    sites.primary.healthAnswer = () => Math.floor(sites.clock.monotonic() / 5000) % 2 === 0
    sites.onStep = () => void epochs.add(sites.secondary.site.record.epoch)
    await sites.advance(300_000)
    sites.onStep = () => undefined
    t.ok(epochs.size <= 2, `epochs ${[...epochs].join()}`)
  },
)

t.test('a manual switch goes on as an automatic one when the old site dies in PRELOAD', async (t) => {
  const sites = await twoSites(t)
  await sites.while(sites.primary.count('a'))
  await sites.advance(1000)
  sites.secondary.troubles = ['not well yet']
  await sites.advance(20_000)
  await sites.while(sites.primary.site.act('failover', by))
  sites.primary.crash()
  await sites.advance(15_000)
  t.match(sites.secondary.site.record, { phase: 'PRELOAD', oldAlive: true })
  sites.secondary.troubles = []
  await sites.until('taken over', () => sites.secondary.consumes, 60_000)
  t.match(sites.secondary.site.record, { epoch: 2 })
  await sites.advance(500)
  t.equal(await sites.secondary.countOf('a'), 1)
})

t.test('both active after a broken link: the higher epoch stays, the other is fenced on contact', async (t) => {
  const sites = await twoSites(t)
  await sites.while(sites.primary.count('before'))
  await sites.advance(1000)
  sites.link.isUp = false
  await sites.until('taken over', () => sites.secondary.consumes, 60_000)
  t.ok(sites.primary.consumes, 'two sites alone cannot rule that out')
  await sites.while(sites.primary.count('lost'))
  await sites.while(sites.secondary.count('kept'))
  sites.link.isUp = true
  await sites.until('one is fenced', () => sites.isSteady(), 10_000)
  t.ok(sites.secondary.consumes)
  t.equal(sites.primary.site.record.epoch, 2)
  await sites.advance(1500)
  for (const { name, site } of sites.both) {
    const { overlap, record } = site.status()
    t.match(overlap, { from: record.switchedAt, events: 1 }, `the ${name} site tells what the one that gave way took`)
  }
  await sites.advance(500)
  t.equal(await sites.secondary.countOf('kept'), 1)
  await sites.while(sites.primary.site.act('failback', by))
  await sites.until('failbacked', () => sites.isSteady() && sites.primary.consumes)
  await sites.advance(500)
  t.same(await Promise.all(['before', 'kept', 'lost'].map((key) => sites.primary.countOf(key))), [1, 1, 1])
})

t.test('a primary that starts again while the secondary is active does not act before it has heard', async (t) => {
  const sites = await twoSites(t)
  sites.primary.crash()
  await sites.until('taken over', () => sites.secondary.consumes, 60_000)
  sites.link.isUp = false
  await sites.while(sites.primary.start())
  await sites.advance(10_000)
  t.notOk(sites.primary.consumes)
  t.notOk(sites.primary.takesTraffic)
  sites.link.isUp = true
  await sites.advance(3000)
  t.ok(sites.isSteady() && sites.secondary.consumes)
})

t.test('a target that is killed in any phase goes on after its start; the result is that of no kill', async (t) => {
  for (const phase of ['PRELOAD', 'SWITCH', 'CATCHUP'] as const) {
    for (const skewMs of [0, -30_000, 30_000]) {
      const sites = await twoSites(t, { skewMs })
      const sender = new Sender(sites)
      sender.begin()
      await sites.advance(3000)
      void sites.primary.site.act('failover', by)
      sites.secondary.onRecord = (record) => {
        if (record.phase === phase) sites.secondary.crash()
      }
      await sites.until(`killed in ${phase}`, () => sites.secondary.running === undefined)
      sites.secondary.onRecord = undefined
      await sites.advance(2000)
      await sites.while(sites.secondary.start())
      await sites.until('failovered', () => sites.isSteady() && sites.secondary.consumes)
      await sites.advance(2000)
      await sender.end()
      const counted = await sender.counted()
      for (const [key, count] of sender.acknowledged) {
        // What was on its way at the crash may have been taken without its acknowledgement.
        const found = counted.get(key) ?? 0
        t.ok(found >= count && found <= count + 1, `${phase} ${skewMs} ${key}: ${found} for ${count}`)
      }
      t.equal(sites.secondary.site.record.epoch, 2)
      await sites.stop()
    }
  }
})

t.test('a drill tells whether the loaded state is that of the active site, and leaves nothing', async (t) => {
  const sites = await twoSites(t)
  for (let n = 0; n < 30; n++) await sites.while(sites.primary.count(`key-${n % KEYS}`))
  await sites.advance(3000)
  const report = await sites.while(sites.secondary.site.drill(new AbortController().signal))
  t.match(report, { equal: true, different: [] })
  t.ok(report.events >= 30)
  t.ok(sites.isSteady() && sites.primary.consumes)
  for (let partition = 0; partition < PARTITIONS; partition++) {
    const store = await sites.secondary.stores.open(`drill-counting-${partition}`)
    for await (const page of store.entries()) t.same(page, [])
    await store.close()
  }
})

t.test('a switch begins with the base, which follows a window behind', async (t) => {
  const sites = await twoSites(t, { settings: { manualWindowMs: 60_000, automaticWindowMs: 30_000 } })
  const sender = new Sender(sites)
  sender.begin()
  await sites.advance(200_000)
  t.ok(sites.secondary.site.status().base > 0)
  t.equal(sites.primary.site.status().base, 0, 'who is active keeps none')
  await sites.while(sites.primary.site.act('failover', by))
  await sites.until('failovered', () => sites.isSteady() && sites.secondary.consumes)
  await sender.end()
  t.same(await sender.counted(), sender.acknowledged)
  const all = [...sender.acknowledged.values()].reduce((sum, count) => sum + count, 0)
  const { eventsLoaded } = JSON.parse(sites.secondary.site.record.report) as { eventsLoaded: number }
  t.ok(eventsLoaded > 60 * 20 && eventsLoaded < all * 0.7, `${eventsLoaded} of ${all}`)
  t.same(sites.errors, [])
})

t.test(
  'while it loads, a site that takes over from a dead one answers from what it has, saying how old that is',
  async (t) => {
    const sites = await twoSites(t)
    await sites.while(sites.primary.count('a'))
    await sites.advance(2000)
    sites.primary.crash()
    const { site } = sites.secondary
    let letGo = (): void => undefined
    const held = new Promise<void>((resolve) => (letGo = resolve))
    let writes = 0
    // Those that clear the stores and begin the loads, of both partitions; then it hangs.
    sites.secondary.onWrite = (store) => (store.startsWith('counting-') && ++writes > 4 ? held : undefined)
    await sites.until('PRELOAD', () => site.record.phase === 'PRELOAD' && writes > 4, 60_000)
    await sites.advance(500)
    t.ok(sites.secondary.takesTraffic && !sites.secondary.consumes)
    const answer = await sites.while(sites.secondary.ask('a'))
    await t.rejects(sites.secondary.count('a'), { code: 'LOG_UNAVAILABLE' }, 'events are not taken yet')
    letGo()
    t.match(answer, { ok: true, result: 1, role: 'standby' })
    t.ok(answer.ok && answer.stalenessMs > 20_000)
    await sites.until('steady', () => sites.secondary.consumes && site.record.phase === 'STEADY')
    await sites.advance(500)
    t.match(await sites.secondary.ask('a'), { ok: true, result: 1, role: 'active' })
  },
)

t.test(
  'FO-09 a component that is down turns the health address after three checks, and back after three',
  async (t) => {
    const sites = await twoSites(t, { settings: { automaticSwitch: false } })
    sites.primary.troubles = ['the log does not answer']
    await sites.advance(9000)
    t.ok(sites.primary.takesTraffic, 'not before')
    await sites.advance(10_000)
    t.notOk(sites.primary.takesTraffic)
    t.ok(sites.primary.consumes, 'nothing restarts')
    sites.primary.troubles = []
    await sites.advance(9000)
    t.notOk(sites.primary.takesTraffic)
    await sites.advance(10_000)
    t.ok(sites.primary.takesTraffic)
  },
)

t.test('domains that do not stop end the process, and the site never says that it has given way', async (t) => {
  const sites = await twoSites(t)
  sites.primary.onStop = () => {
    throw new Error('the store hangs')
  }
  await sites.while(sites.primary.site.act('failover', by))
  await sites.until('fatal', () => sites.errors.some((error) => error.startsWith('primary fatal')))
  t.match(sites.errors, ['primary fatal: the domains could not be stopped: the store hangs'])
  t.ok(sites.primary.consumes)
  sites.primary.onStop = undefined
  const { phase } = sites.secondary.site.record
  t.equal(phase, 'SWITCH', 'it waits for the old site, or for its end')
  sites.primary.crash()
  await sites.while(sites.primary.start())
  await sites.until('failovered', () => sites.isSteady() && sites.secondary.consumes)
})

t.test('stores that cannot be closed or opened: the site says so, and begins the pre-load again', async (t) => {
  const sites = await twoSites(t)
  await sites.while(sites.primary.count('a'))
  await sites.advance(1000)
  let [writes, closes] = [1, 1]
  sites.secondary.onWrite = (store) => {
    if (store.startsWith('counting') && writes-- > 0) throw new Error('the disk is full')
  }
  sites.secondary.onClose = (store) => {
    if (store.startsWith('counting') && closes-- > 0) throw new Error('the store cannot be closed')
  }
  await sites.while(sites.primary.site.act('failover', by))
  await sites.until('failovered', () => sites.isSteady() && sites.secondary.consumes)
  t.match(sites.errors.join(), /the (disk is full|store cannot be closed)/)
  t.equal(await sites.secondary.countOf('a'), 1)
})

t.test(
  'a target that dies for good in the middle of its switch is replaced by the old site, with all it took',
  async (t) => {
    for (const phase of ['SWITCH', 'CATCHUP'] as const) {
      const sites = await twoSites(t)
      const sender = new Sender(sites)
      sender.begin()
      await sites.advance(2000)
      sites.secondary.onRecord = (record) => {
        if (record.phase === phase) sites.secondary.crash()
      }
      void sites.primary.site.act('failover', by)
      await sites.until(`dead in ${phase}`, () => sites.secondary.running === undefined)
      sites.secondary.onRecord = undefined
      await sites.until('the old site knows', () => sites.primary.site.record.epoch === 2)
      await sites.until('it works again', () => sites.primary.site.record.phase === 'STEADY' && sites.primary.consumes)
      t.equal(sites.primary.site.record.active, 'primary')
      await sites.advance(1000)
      await sender.end()
      t.same(await sender.counted(), sender.acknowledged, phase)
      await sites.while(sites.secondary.start())
      await sites.until('the dead one waits', () => sites.isSteady())
      t.ok(sites.primary.consumes && !sites.secondary.consumes)
      await sites.stop()
    }
  },
)

t.test('a take-over from a dead site that takes too long loads the window alone, and says from when on', async (t) => {
  const sites = await twoSites(t, { settings: { preloadTimeoutMs: 20_000, automaticWindowMs: 60_000 } })
  await sites.while(sites.primary.count('before'))
  await sites.advance(80_000)
  await sites.while(sites.primary.count('within'))
  await sites.advance(1000)
  sites.primary.crash()
  let letGo = (): void => undefined
  const held = new Promise<void>((resolve) => (letGo = resolve))
  sites.secondary.onWrite = (store) => (store.startsWith('counting-') ? held : undefined)
  await sites.until('PRELOAD', () => sites.secondary.site.record.phase === 'PRELOAD', 60_000)
  await sites.advance(21_000)
  sites.secondary.onWrite = undefined
  letGo()
  await sites.until('steady', () => sites.secondary.consumes && sites.secondary.site.record.phase === 'STEADY')
  await sites.advance(500)
  t.same(await Promise.all(['before', 'within'].map((key) => sites.secondary.countOf(key))), [0, 1])
  const { switchedAt, report } = sites.secondary.site.record
  t.match(JSON.parse(report), { knownFrom: new Date(switchedAt - 60_000).toISOString() })
  t.match(sites.errors.join(), /the pre-load took longer than 20000 ms: the window alone is loaded/)
})

t.test('a drill gives way to a switch', async (t) => {
  const sites = await twoSites(t)
  for (let n = 0; n < 30; n++) await sites.while(sites.primary.count(`key-${n % KEYS}`))
  await sites.advance(3000)
  sites.secondary.onWrite = (store) => {
    if (!store.startsWith('drill')) return
    return new Promise((resolve) => sites.clock.setTimer(resolve, 500))
  }
  const drill = sites.secondary.site.drill(new AbortController().signal)
  drill.catch(() => undefined)
  await sites.advance(200)
  await sites.while(sites.primary.site.act('failover', by))
  await t.rejects(sites.while(drill), { message: 'a switch has begun' })
  await sites.until('failovered', () => sites.isSteady() && sites.secondary.consumes)
  t.equal(await sites.secondary.countOf('key-1'), 2)
  t.same(sites.errors, [])
})

t.test('a site that cannot log any more gives way as soon as it is shown that the other has taken over', async (t) => {
  const sites = await twoSites(t)
  await sites.while(sites.primary.count('a'))
  await sites.advance(2000)
  sites.primary.onWrite = (store) => {
    if (store === 'log') throw new Error('the disk is gone')
  }
  sites.primary.troubles = ['the disk is gone']
  await sites.until(
    'taken over',
    () => sites.secondary.consumes && sites.secondary.site.record.phase === 'STEADY',
    90_000,
  )
  await sites.until('the primary rests', () => !sites.primary.consumes, 5000)
  t.equal(sites.primary.site.record.epoch, 1, 'it could not log it')
  t.notOk(sites.primary.takesTraffic)
  t.equal(await sites.secondary.countOf('a'), 1)
  sites.primary.onWrite = undefined
  sites.primary.troubles = []
  await sites.until('both know', () => sites.isSteady(), 60_000)
  t.ok(sites.secondary.consumes)
})

t.test('at the very first start the primary is waited for, however slow; once it was well it is not', async (t) => {
  const sites = new TestSites()
  t.teardown(() => sites.stop())
  await sites.while(sites.secondary.start())
  await sites.advance(120_000)
  t.match(sites.secondary.site.record, { epoch: 1, phase: 'STEADY' }, 'nothing has worked yet that could have failed')
  sites.primary.healthAnswer = () => false
  await sites.while(sites.primary.start())
  await sites.advance(120_000)
  t.ok(sites.primary.consumes && !sites.secondary.consumes, 'it works, but is not well yet')
  sites.primary.healthAnswer = undefined
  await sites.advance(15_000)
  sites.primary.crash()
  await sites.until('taken over', () => sites.secondary.consumes, 60_000)
  sites.secondary.crash()
  await sites.while(sites.secondary.start())
  await sites.until('again', () => sites.secondary.consumes, 60_000)
})

t.test('a secondary that starts when the primary has died at work takes over, also where none ever has', async (t) => {
  const sites = await twoSites(t)
  await sites.while(sites.primary.count('a'))
  await sites.advance(3000)
  for (const site of sites.both) site.crash()
  await sites.while(sites.secondary.start())
  await sites.until('taken over', () => sites.secondary.consumes, 90_000)
  t.equal(await sites.secondary.countOf('a'), 1)
})
