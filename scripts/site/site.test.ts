import t from 'tap'
import { by, twoSites } from './test-sender.js'
import { PARTITIONS } from './test-site-parts.js'

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

t.test('a record of a lower epoch is not accepted, and what was passed on once is not passed on again', async (t) => {
  const sites = await twoSites(t)
  const before = sites.primary.site.record
  t.match(await sites.while(sites.primary.site.act('failover', { ...by, forwarded: true })), {
    ok: false,
    reason: 'unreachable',
  })
  t.same(
    sites.both.map(({ site }) => site.record),
    [before, before],
    'nothing has changed',
  )
  await sites.while(sites.primary.site.act('failover', by))
  await sites.until('failovered', () => sites.isSteady() && sites.secondary.consumes)
  for (const { site } of sites.both) {
    t.match(await sites.while(site.exchange(before)), { accepted: false, record: { epoch: 2 } })
  }
  t.ok(sites.isSteady() && sites.secondary.consumes)
  sites.link.isUp = false
  const again = await sites.while(sites.primary.site.act('failover', by))
  t.match(again, { ok: true, status: 'failovered' }, 'what is done needs no answer of the other site')
})

t.test('a site tells how long ago it had all that the other one had', async (t) => {
  const sites = await twoSites(t)
  await sites.advance(3000)
  const lagMs = (): number => sites.secondary.site.status().mirrorLagMs ?? NaN
  t.ok(lagMs() < 1000, `${lagMs()} ms`)
  sites.link.isUp = false
  await sites.advance(5000)
  t.ok(lagMs() >= 5000 && lagMs() < 6000, `${lagMs()} ms`)
  sites.link.isUp = true
  await sites.until('it has all again', () => lagMs() < 1000)
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
