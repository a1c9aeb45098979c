import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { percentile } from '../benchmarks/figure.js'
import { PLUGIN } from './fixtures.js'
import { countingAll, OutcomeSender } from './outcome-sender.js'
import { DEVICES, devices, HealthLog, names, Reporter, TwoSites } from './two-sites.js'
import { until } from './until.js'

/** How soon it is the tests on a clock of their own show. */
const PATIENCE_MS = 120_000

t.test(
  'FO-01 a failover and a failback under 1,000 events a second: one run each, nothing lost or twice',
  async (t) => {
    const sites = await TwoSites.start(t, countingAll)
    await sites.site('primary').register(PLUGIN, devices)
    const calls = new OutcomeSender(sites)
    await calls.begin()
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
      await calls.untilTaken(20)
      await calls.check(t, target, `after the ${act}`)
    }
    await calls.end()
    await reporter.stop()
    t.ok(reporter.last.size === DEVICES)
    await until('all is folded', async () => (await reporter.lost('primary')).length === 0).catch(() => undefined)
    t.same(await reporter.lost('primary'), [])
    t.comment(`${reporter.refused} batches were refused and sent elsewhere; ${calls.told()}`)
  },
)

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

t.test('the primary is killed: the secondary takes over, with all that was acknowledged', async (t) => {
  const sites = await TwoSites.start(t)
  await sites.site('primary').register(PLUGIN, devices)
  const reporter = new Reporter(sites, 'primary')
  await pause(2000)
  await reporter.stop()
  await sites.untilMirrored()
  await sites.kill('primary')
  await until('taken over', () => sites.healthIs('secondary', 200), PATIENCE_MS)
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
  await until('taken over', () => sites.healthIs('secondary', 200), PATIENCE_MS)
  await until('steady', async () => (await sites.status('secondary')).phase === 'STEADY')
  t.equal(await sites.health('primary'), 200, 'two sites alone cannot rule that out')
  for (const name of names) sites.ways[name].set('pass')
  await until('the primary gives way', () => sites.healthIs('primary', 500))
  // It is fenced as soon as it is shown the newer record, and tells of it when that is in its own log.
  const told = await until('the primary tells who is active', async () => {
    const status = await sites.status('primary')
    return status.active === 'secondary' && status
  })
  t.equal(told.epoch, 2)
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
  await until('the mirror goes on', async () => ((await sites.mirrorLagMs('secondary')) ?? 9999) < 1000, PATIENCE_MS)
})
