import t from 'tap'
import type { Test } from 'tap'
import { manualClock } from '../../common/manual-clock.js'
import { memoryProvider } from '../../state-stores/memory/provider.js'
import { countingProcessor } from '../counting-processor.js'
import { names } from '../names.js'
import { TopologyTestDriver } from '../test-driver.js'
import { mirrorIn } from './journal-source.js'
import { Mirror } from './mirror.js'
import type { HistoryPart } from './mirror.js'
import { Preload } from './preload.js'
import type { PreloadOptions } from './preload.js'
import { serveHistory } from './serve-history.js'

const JOURNAL = names.journal('test', 'counting')
const PARTITIONS = 3
const never = new AbortController().signal

function site(name: string, clock = manualClock()) {
  return new TopologyTestDriver({
    processors: [countingProcessor],
    partitions: PARTITIONS,
    clock,
    stores: memoryProvider(),
    application: { site: name },
  })
}
type Site = ReturnType<typeof site>

/** The log of `to` has a mirror of the journals of `from`. */
async function mirrored(from: Site, fromName: string, to: Site): Promise<Mirror> {
  const mirror = new Mirror({
    log: to.log,
    clock: to.clock,
    site: fromName,
    applicationId: 'test',
    domains: ['counting'],
    partitions: PARTITIONS,
    retentionMs: -1,
    readPeer: (wanted, signal) => serveHistory(from, wanted, 0, signal),
    onError: (error) => {
      throw error
    },
  })
  await mirror.open()
  await mirror.pull(never)
  return mirror
}

function preloadOptions(at: Site, name: string, peer: string, load: string): PreloadOptions {
  return {
    log: at.log,
    stores: at.stores,
    clock: at.clock,
    processors: [countingProcessor],
    applicationId: 'test',
    partitions: PARTITIONS,
    site: name,
    peerJournal(domain, partition) {
      const topic = names.journal('test', domain)
      return mirrorIn(at.log, { topic: names.mirror(peer, topic), partition }, names.siteJournal(peer, topic))
    },
    load,
    rowCacheBytes: 1024 * 1024,
    onError: (error) => {
      throw error
    },
  }
}

/** The application of a site that is not active rests; its log goes on. */
async function rest(at: Site): Promise<void> {
  await at.application.stop()
}

/** Both have started, and the secondary rests. */
async function bothSites(): Promise<{ readonly primary: Site; readonly secondary: Site }> {
  const clock = manualClock()
  const primary = site('primary', clock)
  const secondary = site('secondary', clock)
  await primary.start()
  await secondary.start()
  await rest(secondary)
  return { primary, secondary }
}

const digestsOf = (at: Site): string[] => at.application.tasks.map((task) => task.digest.withoutPositions.toHex())

/** Written behind the load, the changelog alone gives the stores that there are. */
async function changelogGivesAll(t: Test, at: Site): Promise<void> {
  await at.advance(2000)
  await at.digests()
  const afterwards = digestsOf(at)
  await at.stop()
  for (const name of at.taskStores) await at.stores.setAside(name, 'lost')
  await at.start()
  await at.digests()
  t.same(digestsOf(at), afterwards)
}

const record = (text: string): { key: null; value: Buffer } => ({ key: null, value: Buffer.from(text) })

async function someEvents(at: Site, from: number, to: number): Promise<void> {
  const modes = ['', 'timer', 'send', 'broadcast', 'request', 'once', 'cancel', 'survey', 'delete', 'fail']
  const records = Array.from({ length: to - from }, (_, i) =>
    record(`key-${(from + i) % 37}:${modes[(from + i) % 10] ?? ''}`),
  )
  await at.pipe('count-me', records)
}

t.test('a site loads the history of the other, and goes on with it', async (t) => {
  const { primary, secondary } = await bothSites()
  await someEvents(primary, 0, 500)
  await primary.advance(3000)
  await primary.digests()
  const expected = digestsOf(primary)

  await mirrored(primary, 'primary', secondary)
  const preload = await Preload.open(preloadOptions(secondary, 'secondary', 'primary', '2-1'))
  await preload.load(never)
  t.same(
    preload.loads.map((load) => load.digest.withoutPositions.toHex()),
    expected,
    'the same rows, but for positions',
  )
  t.equal((await preload.progress()).etaMs, 0)
  await preload.announceTerms()
  t.equal(await preload.sendLost(), 0, 'nothing was on its way')
  await preload.finish()
  const outputs = (await secondary.read('count-changes')).length
  await primary.stop()

  await secondary.log.close()
  await secondary.start()
  t.equal((await secondary.read('count-changes')).length, outputs, 'nothing of the history goes out again')
  await secondary.digests()
  t.same(digestsOf(secondary), expected)
  await someEvents(secondary, 500, 520)
  await secondary.digests()
  t.notSame(digestsOf(secondary), expected)

  await t.test('and its changelog has all of it', async (t) => {
    await changelogGivesAll(t, secondary)
  })
  await secondary.stop()
})

t.test('a load begun anew behind an announced term folds what the other site writes on before that term', async (t) => {
  const { primary, secondary } = await bothSites()
  await someEvents(primary, 0, 60)
  await mirrored(primary, 'primary', secondary)
  const first = await Preload.open(preloadOptions(secondary, 'secondary', 'primary', '2-1'))
  await first.load(never, { isWhole: false })
  await first.announceTerms()
  await first.close()

  const second = await Preload.open(preloadOptions(secondary, 'secondary', 'primary', '2-2'))
  await second.load(never, { isWhole: false })
  // Timers fire: of a former term they would count for nothing.
  await someEvents(primary, 60, 100)
  await primary.advance(5000)
  await primary.digests()
  await mirrored(primary, 'primary', secondary)
  await second.load(never, { isWhole: true })
  t.same(
    second.loads.map((load) => load.digest.withoutPositions.toHex()),
    digestsOf(primary),
  )
  t.equal((await second.progress()).etaMs, 0, 'and the announcement behind all of it')
  await second.close()
  await primary.stop()
  await secondary.stop()
})

t.test('back again the terms stand in the order in which they were, whatever the clocks say', async (t) => {
  const primary = site('primary', manualClock())
  const secondary = site('secondary', manualClock(Date.UTC(2025, 11, 31)))
  await primary.start()
  await secondary.start()
  await rest(secondary)
  await primary.pipe('count-me', [record('a:timer'), record('b:'), record('gone:')])
  await primary.advance(2000)
  await rest(primary)
  await mirrored(primary, 'primary', secondary)
  const there = await Preload.open(preloadOptions(secondary, 'secondary', 'primary', '2-1'))
  await there.load(never)
  await there.announceTerms()
  await there.finish()
  await secondary.log.close()
  await secondary.start()
  await secondary.pipe('count-me', [record('a:cancel'), record('b:'), record('gone:delete'), record('c:broadcast')])
  await secondary.advance(500)
  await secondary.digests()
  const expected = digestsOf(secondary)
  t.notSame(
    expected,
    there.loads.map((load) => load.digest.withoutPositions.toHex()),
  )
  await rest(secondary)

  await mirrored(secondary, 'secondary', primary)
  const back = await Preload.open(preloadOptions(primary, 'primary', 'secondary', '3-1'))
  await back.load(never)
  t.same(
    back.loads.map((load) => load.digest.withoutPositions.toHex()),
    expected,
  )
  await back.announceTerms()
  await back.finish()

  await t.test('and of what stood in the changelog before, nothing is left', async (t) => {
    await primary.log.close()
    await primary.start()
    await changelogGivesAll(t, primary)
  })
  await primary.stop()
  await secondary.stop()
})

t.test('the term of a site that takes over is above one of the other site that it has not heard of', async (t) => {
  const { primary, secondary } = await bothSites()
  await someEvents(primary, 0, 60)
  await mirrored(primary, 'primary', secondary)
  await rest(primary)
  await primary.log.close()
  await primary.start()
  await primary.digests()
  const unheard = Math.max(...primary.application.tasks.map(({ foldState }) => foldState.epoch))
  const preload = await Preload.open(preloadOptions(secondary, 'secondary', 'primary', '2-1'))
  await preload.load(never)
  t.ok(preload.loads.every(({ foldState }) => foldState.epoch < unheard))
  await preload.announceTerms()
  await preload.finish()
  await secondary.log.close()
  await secondary.start()
  await secondary.digests()
  t.ok(secondary.application.tasks.every(({ foldState }) => foldState.epoch > unheard + 1))
  await primary.stop()
  await secondary.stop()
})

t.test(
  'a mirror takes each record once, tells of those it has missed, and takes none of another journal',
  async (t) => {
    const at = site('secondary')
    await at.start()
    const part = (from: number, to: number, more: Partial<HistoryPart> = {}): HistoryPart => ({
      ...{ topic: JOURNAL, partition: 0, incarnation: 'first', start: 0, end: to, next: to },
      records: Array.from({ length: to - from }, (_, index) => {
        return { offset: from + index, timestamp: 7, key: null, value: Buffer.from('block'), headers: [] }
      }),
      ...more,
    })
    let parts: readonly HistoryPart[] = []
    const errors: string[] = []
    const mirror = new Mirror({
      ...{ log: at.log, clock: at.clock, site: 'primary', applicationId: 'test', domains: ['counting'] },
      ...{ partitions: 1, retentionMs: -1, readPeer: () => Promise.resolve(parts) },
      onError: (error) => errors.push(error.message),
    })
    await mirror.open()
    const pull = (...pulled: readonly HistoryPart[]): Promise<void> => {
      parts = pulled
      return mirror.pull(never)
    }
    const copied = async (): Promise<number[]> => {
      const { records } = await mirror.source('counting', 0).read(0)
      return records.map(({ offset }) => offset)
    }
    await pull(part(0, 3))
    await pull(part(1, 5))
    t.same(await copied(), [0, 1, 2, 3, 4])
    t.same(errors, [])
    await pull(part(7, 8, { start: 7 }))
    t.same(await copied(), [0, 1, 2, 3, 4, 7])
    t.match(errors, [/records 5 to 7 .* were not mirrored/])
    await t.rejects(pull(part(8, 9, { incarnation: 'second' })), { code: 'MIRROR_FOREIGN' })
    await t.rejects(pull(part(0, 2)), { code: 'MIRROR_FOREIGN' }, 'it ended further on before')
    t.same(await copied(), [0, 1, 2, 3, 4, 7])
    await pull(part(8, 9, { end: 12 }))
    const { completeAt } = mirror
    await at.advance(100)
    await pull(part(9, 10, { end: 12 }))
    t.equal(mirror.completeAt, completeAt, 'not all is here')
    await pull(part(10, 12))
    t.equal(mirror.lagMs, 0)
    await at.stop()
  },
)

t.test('a load that was cut short goes on where it was, under its name only', async (t) => {
  const { primary, secondary } = await bothSites()
  await someEvents(primary, 0, 200)
  const mirror = await mirrored(primary, 'primary', secondary)
  const first = await Preload.open(preloadOptions(secondary, 'secondary', 'primary', '2-1'))
  await first.load(never)
  const loaded = first.entries
  t.ok(loaded > 200)
  await first.close()

  await someEvents(primary, 200, 300)
  await mirror.pull(never)
  const second = await Preload.open(preloadOptions(secondary, 'secondary', 'primary', '2-1'))
  await second.load(never)
  t.ok(second.entries < loaded, 'only what is new')
  await primary.digests()
  t.same(
    second.loads.map((load) => load.digest.rows.toHex()),
    primary.application.tasks.map((task) => task.digest.rows.toHex()),
  )
  await second.close()

  const another = await Preload.open(preloadOptions(secondary, 'secondary', 'primary', '2-2'))
  t.equal(
    another.loads.reduce((sum, load) => sum + load.entries, 0),
    0,
    'another load begins anew',
  )
  await another.load(never)
  t.same(
    another.loads.map((load) => load.digest.rows.toHex()),
    primary.application.tasks.map((task) => task.digest.rows.toHex()),
  )
  await another.close()

  await t.test('and not where the journals no longer hold what comes next', async (t) => {
    const options = preloadOptions(secondary, 'secondary', 'primary', '2-2')
    const cutOff = await Preload.open({
      ...options,
      peerJournal(domain, partition) {
        const source = options.peerJournal(domain, partition)
        const offsets = async () => ({ start: (await source.offsets()).end + 1, end: (await source.offsets()).end + 1 })
        return { ...source, offsets }
      },
    })
    t.equal(
      cutOff.loads.reduce((sum, load) => sum + load.entries, 0),
      0,
    )
    await cutOff.close()
  })
  await primary.stop()
  await secondary.stop()
})

t.test('what a dead site has folded but not sent on is sent by the one that takes over', async (t) => {
  const { primary, secondary } = await bothSites()
  await primary.pipe('count-me', [record('x:')])
  const mirror = await mirrored(primary, 'primary', secondary)
  await primary.pipe('count-me', [record('y:send')])
  const { log } = primary
  const sentTo = 1 + (await primary.read(JOURNAL)).findIndex(({ value }) => value?.includes('y-sent') === true)
  t.ok(sentTo > 0)
  // The mirror has the fold's event, and not what it sent on.
  await mirror.pull(never)
  const cutOff = preloadOptions(secondary, 'secondary', 'primary', '2-1')
  const preload = await Preload.open({
    ...cutOff,
    peerJournal: (topic, partition) => {
      const source = cutOff.peerJournal(topic, partition)
      return {
        ...source,
        async read(position) {
          const read = await source.read(position)
          return { ...read, records: read.records.filter(({ value }) => value?.includes('y-sent') !== true) }
        },
      }
    },
  })
  await preload.load(never)
  await preload.announceTerms()
  t.equal(await preload.sendLost(), 1)
  await preload.finish()
  await primary.digests()
  const expected = digestsOf(primary)
  await secondary.log.close()
  await secondary.start()
  await secondary.digests()
  t.same(digestsOf(secondary), expected)
  await log.close()
  await secondary.stop()
})

t.test('a base follows a window behind, and a load that begins with it folds the rest only', async (t) => {
  const primary = site('primary', manualClock())
  const secondary = site('secondary', manualClock(Date.UTC(2025, 11, 31)))
  await primary.start()
  await secondary.start()
  await rest(secondary)
  const baseStoreName = (domain: string, partition: number): string => `base-${domain}-${partition}`
  const advanceBase = async (beforeMs: number): Promise<number> => {
    const options = preloadOptions(secondary, 'secondary', 'primary', 'base')
    const base = await Preload.open({ ...options, storeName: baseStoreName, isBase: true })
    await base.load(never, { beforeMs })
    await base.close()
    return base.entries
  }
  const mirror = await mirrored(primary, 'primary', secondary)
  let inBase = 0
  for (let round = 0; round < 3; round++) {
    await someEvents(primary, round * 100, round * 100 + 100)
    await primary.advance(2000)
    await mirror.pull(never)
    inBase += await advanceBase(primary.clock.now() - 1000)
  }
  await primary.digests()
  const expected = digestsOf(primary)
  const options = preloadOptions(secondary, 'secondary', 'primary', '2-1')
  const whole = await Preload.open(options)
  await whole.load(never)
  await whole.close()
  const preload = await Preload.open({ ...options, load: '2-2', baseStoreName })
  await preload.load(never)
  t.ok(inBase > 200)
  t.equal(preload.entries, whole.entries - inBase)
  t.same(
    preload.loads.map((load) => load.digest.withoutPositions.toHex()),
    expected,
  )

  await t.test('over a switch, too: what is held back goes before what came later', async (t) => {
    await preload.announceTerms()
    await preload.finish()
    await primary.stop()
    await secondary.log.close()
    await secondary.start()
    await someEvents(secondary, 300, 340)
    await secondary.digests()
    const active = digestsOf(secondary)
    await rest(secondary)
    // The secondary's clock is a day behind: by stamps its records would come first.
    await advanceBase(primary.clock.now() - 12 * 3_600_000)
    await advanceBase(primary.clock.now() + 1)
    const again = await Preload.open({
      ...preloadOptions(secondary, 'secondary', 'primary', '4-1'),
      baseStoreName,
    })
    await again.load(never)
    t.same(
      again.loads.map((load) => load.digest.withoutPositions.toHex()),
      active,
    )
    await again.close()
  })
  await secondary.stop()
})
