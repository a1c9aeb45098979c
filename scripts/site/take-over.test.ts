import t from 'tap'
import { partitionOf } from '../../topology/partitioner.js'
import { by, Sender, twoSites } from './test-sender.js'
import { PARTITIONS } from './test-site-parts.js'
import { TestSites } from './test-sites.js'

t.setTimeout(120_000)

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

t.test(
  'a primary that hangs is taken over from a tick after its third failed check, and is not waited for',
  async (t) => {
    for (const laterMs of [0, 3000, 6000]) {
      const sites = await twoSites(t)
      await sites.while(sites.primary.count('a'))
      await sites.advance(2000 + laterMs)
      const failed: number[] = []
      sites.primary.onCheckFailed = () => failed.push(sites.clock.monotonic())
      sites.link.isStalled = true
      await sites.until('taken over', () => sites.secondary.takesTraffic, 60_000)
      const taken = sites.clock.monotonic()
      t.ok(taken - (failed[2] ?? 0) <= 1500, `${taken - (failed[2] ?? 0)} ms after the third check`)
      await sites.until('steady', () => sites.secondary.consumes && sites.secondary.site.record.phase === 'STEADY')
      t.ok(sites.clock.monotonic() - taken <= 5000, `steady ${sites.clock.monotonic() - taken} ms later`)
      await sites.advance(500)
      t.equal(await sites.secondary.countOf('a'), 1)
      sites.link.isStalled = false
      await sites.until('the primary gives way', () => sites.isSteady(), 60_000)
      await sites.stop()
    }
  },
)

t.test(
  'a failback is judged by a take-over that is told here, and could not be logged when it was heard',
  async (t) => {
    const sites = await twoSites(t)
    sites.link.isUp = false
    await sites.until('taken over', () => sites.secondary.consumes, 60_000)
    await sites.until('steady', () => sites.secondary.site.record.phase === 'STEADY')
    const { site } = sites.primary
    const { register } = site
    const command = register.command.bind(register)
    register.command = () => Promise.reject(new Error('the log does not answer'))
    await sites.while(site.exchange(sites.secondary.site.record))
    register.command = command
    t.match(site.record, { active: 'secondary', epoch: 2 }, 'it is told')
    t.match(await sites.while(site.act('failback', by)), { ok: true, status: 'failbacking' })
    sites.link.isUp = true
    await sites.until('failed back', () => sites.isSteady() && sites.primary.consumes, 60_000)
  },
)

t.test('an operator is answered at once, also while the other site hangs', async (t) => {
  const sites = await twoSites(t, { settings: { automaticSwitch: false } })
  sites.link.isStalled = true
  for (const [act, answer] of [
    ['failover', { status: 'failovering', phase: 'PRELOAD' }],
    ['failback', { ok: false, reason: 'conflict' }],
    ['abort', { status: 'aborted' }],
  ] as const) {
    const asked = sites.clock.monotonic()
    t.match(await sites.while(sites.secondary.site.act(act, by)), answer)
    t.ok(sites.clock.monotonic() - asked <= 2500, `${act}: ${sites.clock.monotonic() - asked} ms`)
  }
  sites.link.isStalled = false
  await sites.until('aborted at both', () => sites.isSteady(), 60_000)
})

t.test(
  'a primary that was not well meanwhile takes back only when it has been well for the whole hold-off',
  async (t) => {
    const sites = await twoSites(t, { settings: { failbackHoldOffMs: 60_000 } })
    sites.primary.crash()
    await sites.until('taken over', () => sites.secondary.consumes, 60_000)
    await sites.while(sites.primary.start())
    await sites.advance(30_000)
    sites.primary.troubles = ['not well again']
    await sites.advance(20_000)
    sites.primary.troubles = []
    await sites.advance(55_000)
    t.ok(sites.isSteady() && sites.secondary.consumes, 'long after the switch, but not well for long enough')
    await sites.until('failed back', () => sites.isSteady() && sites.primary.consumes, 60_000)
  },
)

t.test('a primary that was well all the time, only cut off, holds off from the switch on', async (t) => {
  const sites = await twoSites(t, { settings: { failbackHoldOffMs: 60_000 } })
  await sites.advance(60_000)
  sites.link.isUp = false
  await sites.until('taken over', () => sites.secondary.consumes, 60_000)
  sites.link.isUp = true
  await sites.until('it rests', () => sites.isSteady())
  await sites.advance(40_000)
  t.equal(sites.primary.site.record.epoch, 2)
  sites.link.isUp = false
  await sites.advance(21_000)
  t.equal(sites.primary.site.record.epoch, 2, 'of one that it does not hear it takes nothing back')
  sites.link.isUp = true
  await sites.until('failed back', () => sites.isSteady() && sites.primary.consumes, 60_000)
})

t.test('with siteAutomaticSwitch off nobody takes over, until asked to', async (t) => {
  const sites = await twoSites(t, { settings: { automaticSwitch: false } })
  sites.primary.crash()
  await sites.advance(60_000)
  t.match(sites.secondary.site.record, { epoch: 1, phase: 'STEADY' })
  t.match(await sites.while(sites.secondary.site.act('failover', by)), { ok: true, status: 'failovering' })
  await sites.until('taken over', () => sites.secondary.consumes, 5000)
})

t.test('one that answers and fails its checks is not waited for by a switch that is asked for', async (t) => {
  const sites = await twoSites(t, { settings: { automaticSwitch: false } })
  sites.primary.healthAnswer = () => false
  await sites.advance(40_000)
  await sites.while(sites.secondary.site.act('failover', by))
  t.match(sites.secondary.site.record, { epoch: 2, kind: 'manual', oldAlive: false })
  await sites.until('taken over', () => sites.isSteady() && sites.secondary.consumes)
})

t.test('a site that is not well itself takes over from nobody, and does so once it is', async (t) => {
  const sites = await twoSites(t)
  sites.secondary.troubles = ['the disk is full']
  await sites.advance(20_000)
  sites.primary.crash()
  await sites.advance(60_000)
  t.match(sites.secondary.site.record, { epoch: 1, phase: 'STEADY' })
  sites.secondary.troubles = []
  await sites.until('taken over', () => sites.secondary.consumes, 20_000)
})

t.test('as many checks must fail as siteFailureThreshold says, and an old site is waited for as long', async (t) => {
  const sites = await twoSites(t, { settings: { checkIntervalMs: 2000, failureThreshold: 5 } })
  let failed = 0
  sites.primary.onCheckFailed = () => failed++
  sites.primary.crash()
  await sites.until('taken over', () => sites.secondary.takesTraffic)
  t.equal(failed, 5)
  await sites.while(sites.primary.start())
  await sites.until('it rests', () => sites.isSteady())
  sites.primary.onRecord = ({ phase }) => {
    if (phase === 'SWITCH') sites.link.isUp = false
  }
  await sites.while(sites.primary.site.act('failback', by))
  await sites.until('it goes on', () => sites.primary.consumes && sites.primary.site.record.phase === 'STEADY')
  const { lossWindowMs } = JSON.parse(sites.primary.site.record.report) as { lossWindowMs: number }
  t.ok(lossWindowMs >= 10_000 && lossWindowMs < 15_000, `${lossWindowMs} ms`)
})

t.test('a switch that has failed is begun again as soon as the old site has died', async (t) => {
  const sites = await twoSites(t, { settings: { preloadTimeoutMs: 5000 } })
  await sites.while(sites.primary.count('a'))
  await sites.advance(2000)
  sites.primary.isHistoryAway = true
  await sites.while(sites.secondary.site.act('failover', by))
  await sites.until('FAILED', () => sites.secondary.site.record.phase === 'FAILED')
  let failed = 0
  sites.primary.onCheckFailed = () => failed++
  sites.primary.crash()
  await sites.until('taken over', () => sites.secondary.takesTraffic)
  t.equal(failed, 3)
  await sites.until('steady', () => sites.secondary.consumes && sites.secondary.site.record.phase === 'STEADY')
  await sites.advance(500)
  t.equal(await sites.secondary.countOf('a'), 1)
})

t.test('after a switch by request nothing goes back by itself', async (t) => {
  const sites = await twoSites(t, { settings: { failbackHoldOffMs: 10_000 } })
  await sites.while(sites.primary.site.act('failover', by))
  await sites.until('failovered', () => sites.isSteady() && sites.secondary.consumes)
  const { switchedAt, windowFrom } = sites.secondary.site.record
  t.equal(switchedAt - windowFrom, 3 * 3_600_000, 'the window of a switch by request')
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

t.test(
  'a link that breaks in the middle of a switch: the target goes on without the old site, which tells the overlap',
  async (t) => {
    const sites = await twoSites(t)
    await sites.while(sites.primary.count('before'))
    await sites.advance(1000)
    sites.secondary.onRecord = ({ phase }) => {
      if (phase === 'SWITCH') sites.link.isUp = false
    }
    await sites.while(sites.primary.site.act('failover', by))
    await sites.until(
      'it goes on',
      () => sites.secondary.consumes && sites.secondary.site.record.phase === 'STEADY',
      60_000,
    )
    t.ok(sites.primary.consumes, 'cut off, it cannot know')
    await sites.while(sites.primary.count('lost'))
    sites.secondary.onRecord = undefined
    sites.link.isUp = true
    await sites.until('one is fenced', () => sites.isSteady() && sites.secondary.consumes, 10_000)
    await sites.advance(1500)
    const { switchedAt, report } = sites.secondary.site.record
    const { untilTrafficMs, lossWindowMs } = JSON.parse(report) as { untilTrafficMs: number; lossWindowMs: number }
    t.ok(lossWindowMs >= 30_000, `${lossWindowMs} ms`)
    t.ok(untilTrafficMs < 10_000, `both were active from SWITCH on: ${untilTrafficMs} ms`)
    for (const { name, site } of sites.both)
      t.match(site.status().overlap, { from: switchedAt + untilTrafficMs, events: 1 }, `the ${name} site tells of it`)
    await sites.while(sites.primary.site.act('failback', by))
    await sites.until('failbacked', () => sites.isSteady() && sites.primary.consumes)
    await sites.advance(500)
    t.same(await Promise.all(['before', 'lost'].map((key) => sites.primary.countOf(key))), [1, 1])
  },
)

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

t.test(
  'what the folds of a dead site had sent on, and the mirror does not have, is sent by the one that takes over',
  async (t) => {
    const sites = await twoSites(t)
    sites.primary.hiddenFrom = 'a-sent'
    await sites.while(sites.primary.count('a', 'send'))
    await sites.while(sites.primary.count('b'))
    await sites.advance(2000)
    t.equal(await sites.primary.countOf('a-sent'), 1)
    sites.primary.crash()
    await sites.until(
      'taken over',
      () => sites.secondary.consumes && sites.secondary.site.record.phase === 'STEADY',
      60_000,
    )
    await sites.advance(500)
    t.same(await Promise.all(['a', 'a-sent'].map((key) => sites.secondary.countOf(key))), [1, 1])
    sites.primary.hiddenFrom = ''
    await sites.while(sites.primary.start())
    await sites.while(sites.primary.site.act('failback', by))
    await sites.until('failbacked', () => sites.isSteady() && sites.primary.consumes)
    await sites.advance(500)
    t.same(
      await Promise.all(['a', 'a-sent', 'b'].map((key) => sites.primary.countOf(key))),
      [1, 1, 1],
      'and counts once',
    )
  },
)

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
    const tooOld = await sites.while(sites.secondary.ask('a', { maxStalenessMs: 20_000 }))
    const place = { topic: 'test-counting-journal', partition: partitionOf('a', PARTITIONS), offset: 0 }
    const behind = await sites.while(sites.secondary.ask('a', { minPositions: [place] }))
    await t.rejects(sites.secondary.count('a'), { code: 'LOG_UNAVAILABLE' }, 'events are not taken yet')
    letGo()
    t.match(answer, { ok: true, result: 1, role: 'standby' })
    t.ok(answer.ok && answer.stalenessMs > 20_000)
    t.match(tooOld, { ok: false, reason: 'tooStale' })
    t.match(behind, { ok: false, reason: 'notUpToPosition' }, 'positions are of another journal')
    await sites.until('steady', () => sites.secondary.consumes && site.record.phase === 'STEADY')
    await sites.advance(500)
    t.match(await sites.secondary.ask('a'), { ok: true, result: 1, role: 'active' })
  },
)

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
  t.match(sites.primary.site.status().record, { epoch: 2, active: 'secondary' }, 'it says who is active all the same')
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
