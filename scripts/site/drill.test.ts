import t from 'tap'
import { countingProcessor } from '../../topology/counting-processor.js'
import type { Counted } from '../../topology/counting-processor.js'
import { partitionOf } from '../../topology/partitioner.js'
import type { Processor } from '../../topology/processor.js'
import { by, KEYS, Sender, twoSites } from './test-sender.js'
import { PARTITIONS } from './test-site-parts.js'

t.setTimeout(120_000)

t.test('a drill tells whether the loaded state is that of the active site, and leaves nothing', async (t) => {
  const sites = await twoSites(t)
  for (let n = 0; n < 30; n++) await sites.while(sites.primary.count(`key-${n % KEYS}`))
  // What comes behind the active site's last seal is loaded by no drill.
  const sender = new Sender(sites)
  sender.begin()
  await sites.advance(3000)
  const result = await sites.while(sites.secondary.site.drill(new AbortController().signal))
  await sender.end()
  t.match(result, { ok: true, report: { equal: true } })
  t.same(result.ok && result.report.different, [])
  t.ok(result.ok && result.report.events >= 30)
  t.ok(sites.isSteady() && sites.primary.consumes)
  for (let partition = 0; partition < PARTITIONS; partition++) {
    const store = await sites.secondary.stores.open(`drill-counting-${partition}`)
    for await (const page of store.entries()) t.same(page, [])
    await store.close()
  }
})

t.test('a drill tells where what is loaded is not what the active site has', async (t) => {
  const other: Processor = {
    ...(countingProcessor as Processor),
    evolve(event, context) {
      if ((event as Counted).data.key !== 'key-7') countingProcessor.evolve(event as Counted, context)
    },
  }
  const sites = await twoSites(t, {
    processors: (site) => [site === 'primary' ? countingProcessor : other],
  })
  for (let n = 0; n < 30; n++) await sites.while(sites.primary.count(`key-${n % KEYS}`))
  await sites.advance(3000)
  const result = await sites.while(sites.secondary.site.drill(new AbortController().signal))
  t.match(result, { ok: true, report: { equal: false } })
  t.same(result.ok && result.report.different, [`counting/${partitionOf('key-7', PARTITIONS)}`])
})

t.test('with a base a take-over from a dead site loads all, however long it takes', async (t) => {
  const sites = await twoSites(t, {
    settings: { manualWindowMs: 60_000, automaticWindowMs: 30_000, preloadTimeoutMs: 5000 },
  })
  await sites.while(sites.primary.count('before'))
  await sites.advance(200_000)
  t.ok(sites.secondary.site.status().base > 0)
  await sites.while(sites.primary.count('within'))
  await sites.advance(2000)
  let letGo = (): void => undefined
  const held = new Promise<void>((resolve) => (letGo = resolve))
  sites.secondary.onWrite = (store) => (store.startsWith('counting-') ? held : undefined)
  sites.primary.crash()
  await sites.until('PRELOAD', () => sites.secondary.site.record.phase === 'PRELOAD', 60_000)
  await sites.advance(20_000)
  sites.secondary.onWrite = undefined
  letGo()
  await sites.until('steady', () => sites.secondary.consumes && sites.secondary.site.record.phase === 'STEADY')
  await sites.advance(500)
  t.same(await Promise.all(['before', 'within'].map((key) => sites.secondary.countOf(key))), [1, 1])
  t.equal(sites.secondary.site.record.attempt, 1)
  t.match(JSON.parse(sites.secondary.site.record.report), { knownFrom: null })
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
  t.same(await sites.while(drill), { ok: false, reason: 'conflict', message: 'a switch has begun' })
  await sites.until('failovered', () => sites.isSteady() && sites.secondary.consumes)
  t.equal(await sites.secondary.countOf('key-1'), 2)
  t.same(sites.errors, [])
})

t.test(
  'a drill that the other site does not answer, or shows no journals for, says so and leaves nothing held',
  async (t) => {
    const sites = await twoSites(t, { settings: { automaticSwitch: false } })
    await sites.while(sites.primary.count('key-1'))
    const drill = () => sites.while(sites.secondary.site.drill(new AbortController().signal))
    sites.link.isUp = false
    t.match(await drill(), { ok: false, reason: 'unreachable' })
    sites.link.isUp = true
    sites.primary.isHistoryAway = true
    await sites.while(sites.primary.count('key-1'))
    await sites.advance(3000)
    t.match(await drill(), { ok: false, reason: 'unreachable' })
    sites.primary.isHistoryAway = false
    t.match(await drill(), { ok: true, report: { equal: true } })
  },
)
