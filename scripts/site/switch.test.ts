import t from 'tap'
import type { Phase } from '../../processors/site/index.js'
import { by, KEYS, Sender, twoSites } from './test-sender.js'
import type { TestSite } from './test-sites.js'

t.setTimeout(120_000)

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
  const began = new Map<Phase, number>()
  sites.secondary.onRecord = ({ phase, since }) => began.set(phase, since)
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
  await t.rejects(sites.primary.count('a'), { message: 'this site is not the active one' })
  t.match(JSON.parse(sites.primary.site.record.report), {
    epoch: 2,
    kind: 'manual',
    target: 'secondary',
    lossWindowMs: 0,
  })
  const { switchedAt, report } = sites.primary.site.record
  const { untilTrafficMs, untilSteadyMs } = JSON.parse(report) as { untilTrafficMs: number; untilSteadyMs: number }
  const after = (phase: Phase): number => (began.get(phase) ?? NaN) - switchedAt
  t.equal(untilTrafficMs, after('SWITCH'))
  t.ok(untilTrafficMs > 0 && untilSteadyMs >= after('CATCHUP') && untilSteadyMs <= after('STEADY'), report)
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
  const EVENTS = 60
  for (let n = 0; n < EVENTS; n++) await sites.while(sites.primary.count(`key-${n % KEYS}`))
  await sites.advance(1000)
  // Those that clear a store and begin its load are good: one half of the history is loaded, the other fails.
  let writes = 0
  let faults = 2
  sites.secondary.onWrite = (name) => {
    if (name !== 'counting-1') return
    if (++writes > 2 && faults > 0) {
      faults--
      writes = 0
      throw new Error('the history cannot be read')
    }
  }
  await sites.while(sites.primary.site.act('failover', by))
  for (const attempt of [2, 3]) {
    await sites.until('the error shows', () => sites.secondary.site.record.attempt === attempt)
    t.match(sites.secondary.site.record, { phase: 'PRELOAD', error: 'the history cannot be read' })
    t.same(
      sites.both.map((site) => [site.consumes, site.takesTraffic]),
      [
        [true, true],
        [false, false],
      ],
    )
    await sites.while(sites.primary.count('key-1'))
    t.match(await sites.while(sites.primary.site.act('failover', by)), { status: 'failovering', epoch: 2 })
  }
  await sites.until('failovered', () => sites.isSteady() && sites.secondary.consumes)
  t.equal(faults, 0)
  t.equal(await sites.secondary.countOf('key-1'), EVENTS / KEYS + 2)
  const { eventsLoaded } = JSON.parse(sites.secondary.site.record.report) as { eventsLoaded: number }
  t.ok(eventsLoaded >= EVENTS + 2, `the last attempt has loaded all, from a cleared cache: ${eventsLoaded}`)
})

t.test(
  'in CATCHUP the rest of the old site’s journals is waited for, and what stays away is told as lost',
  async (t) => {
    for (const isBack of [true, false]) {
      const sites = await twoSites(t)
      const sender = new Sender(sites)
      sender.begin()
      await sites.advance(3000)
      sites.secondary.onRecord = ({ phase }) => {
        if (phase !== 'SWITCH') return
        sites.primary.isHistoryAway = true
        void sites.primary.count('late')
      }
      await sites.while(sites.primary.site.act('failover', by))
      await sites.until('CATCHUP', () => sites.secondary.site.record.phase === 'CATCHUP')
      await sites.advance(20_000)
      t.equal(sites.secondary.site.record.phase, 'CATCHUP')
      t.same(
        sites.both.map((site) => [site.takesTraffic, site.consumes, site.site.role.takesEvents]),
        [
          [false, false, false],
          [true, false, true],
        ],
        'events wait in its log meanwhile',
      )
      if (isBack) sites.primary.isHistoryAway = false
      await sites.until('failovered', () => sites.isSteady() && sites.secondary.consumes)
      sites.primary.isHistoryAway = false
      await sites.advance(1000)
      await sender.end()
      const { lossWindowMs } = JSON.parse(sites.secondary.site.record.report) as { lossWindowMs: number }
      if (isBack) t.equal(lossWindowMs, 0)
      else t.ok(lossWindowMs >= 30_000, `${lossWindowMs} ms`)
      if (isBack) t.same(await sender.counted(), sender.acknowledged)
      t.equal(await sites.secondary.countOf('late'), isBack ? 1 : 0)
      await sites.stop()
    }
  },
)

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

t.test(
  'a pre-load that does not get to its end has failed at the time limit, which a start of the target does not extend',
  async (t) => {
    for (const isKilled of [false, true]) {
      const sites = await twoSites(t, { settings: { preloadTimeoutMs: 60_000, automaticSwitch: false } })
      await sites.while(sites.secondary.site.act('failover', by))
      sites.link.isUp = false
      await sites.advance(20_000)
      if (isKilled) {
        sites.secondary.crash()
        await sites.while(sites.secondary.start())
      }
      await sites.until('FAILED', () => sites.secondary.site.record.phase === 'FAILED')
      const { since, switchedAt, ...record } = sites.secondary.site.record
      t.match(record, { error: 'the pre-load took longer than 60000 ms', attempt: 1 })
      t.ok(since - switchedAt >= 60_000 && since - switchedAt < 70_000, `${since - switchedAt} ms`)
      sites.link.isUp = true
      await sites.until('told', () => sites.primary.site.record.phase === 'FAILED')
      t.ok(sites.primary.consumes && sites.primary.takesTraffic)
      await sites.stop()
    }
  },
)

t.test('what the folds of both sites send on from the same places of their journals counts for both', async (t) => {
  const sites = await twoSites(t)
  let sent = 0
  const send = async (site: TestSite, times: number): Promise<void> => {
    for (let n = 0; n < times; n++) await sites.while(site.count('a', 'send'))
    await sites.advance(500)
    t.equal(await site.countOf('a-sent'), (sent += times), site.name)
  }
  // The other's journal is shorter: by the place alone what it sends would be taken for what has come already.
  await send(sites.primary, 20)
  for (const [act, target] of [
    ['failover', sites.secondary],
    ['failback', sites.primary],
  ] as const) {
    await sites.while(target.site.act(act, by))
    await sites.until(`${act}ed`, () => sites.isSteady() && target.consumes)
    await send(target, 2)
  }
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

t.test(
  'a failover asked for while the old site cannot be reached for a moment waits for it, and loses nothing',
  async (t) => {
    const sites = await twoSites(t)
    const sender = new Sender(sites)
    sender.begin()
    await sites.advance(2000)
    sites.link.isUp = false
    await sites.advance(1000)
    t.match(await sites.while(sites.secondary.site.act('failover', by)), { ok: true, status: 'failovering' })
    await sites.advance(8000)
    t.match(sites.secondary.site.record, { phase: 'PRELOAD', oldAlive: true })
    t.ok(sites.primary.consumes && sites.primary.takesTraffic)
    sites.link.isUp = true
    await sites.until('failovered', () => sites.isSteady() && sites.secondary.consumes)
    await sites.advance(1000)
    await sender.end()
    t.same(await sender.counted(), sender.acknowledged)
    t.match(JSON.parse(sites.secondary.site.record.report), { lossWindowMs: 0 })
  },
)

t.test('one asked for of a site that has died goes on without it once that has failed its checks', async (t) => {
  const sites = await twoSites(t)
  await sites.while(sites.primary.count('a'))
  await sites.advance(2000)
  sites.primary.crash()
  t.match(await sites.while(sites.secondary.site.act('failover', by)), { ok: true, status: 'failovering' })
  await sites.advance(15_000)
  t.match(sites.secondary.site.record, { phase: 'PRELOAD', oldAlive: true })
  await sites.until('taken over', () => sites.secondary.consumes, 30_000)
  t.match(sites.secondary.site.record, { epoch: 2, kind: 'automatic', oldAlive: false })
  await sites.advance(500)
  t.equal(await sites.secondary.countOf('a'), 1)
})

t.test('a target that is not well does not take over', async (t) => {
  const sites = await twoSites(t, { settings: { preloadTimeoutMs: 60_000 } })
  sites.secondary.troubles = ['not well']
  await sites.advance(20_000)
  await sites.while(sites.primary.site.act('failover', by))
  await sites.until('FAILED', () => sites.secondary.site.record.phase === 'FAILED', 70_000)
  t.ok(sites.primary.consumes)
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
