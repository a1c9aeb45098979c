import t from 'tap'
import { siteRegister } from '../../processors/site/index.js'
import { memoryProvider } from '../../state-stores/memory/provider.js'
import type { Audit } from '../../topology/audit/audit.js'
import { explain } from '../../topology/audit/explain.js'
import { diffStates } from '../../topology/audit/diff-states.js'
import type { Gap } from '../../topology/audit/journal-source.js'
import { replayJournals } from '../../topology/audit/replay-journals.js'
import { stateAt } from '../../topology/audit/state-at.js'
import { verify } from '../../topology/audit/verify.js'
import { whatIf } from '../../topology/audit/what-if.js'
import { openArchive } from '../../topology/archive/archive-source.js'
import { writeArchive } from '../../topology/archive/write-archive.js'
import { countingProcessor } from '../../topology/counting-processor.js'
import type { Log } from '../../topology/log/log.js'
import { partitionOf } from '../../topology/partitioner.js'
import type { Processor } from '../../topology/processor.js'
import { gapLines } from '../audit/texts.js'
import { PARTITIONS } from './test-site-parts.js'
import { TestSites } from './test-sites.js'

const end = { kind: 'end' } as const
const mirrored = 'mirror.secondary.test-counting-journal'

t.test(
  'audits of a site name what it has loaded from the other, exactly, in every answer that rests on it',
  async (t) => {
    const sites = new TestSites()
    t.teardown(() => sites.stop())
    await sites.start()
    const { primary, secondary } = sites
    for (let i = 0; i < 12; i++) await sites.while(primary.count(`key-${i}`))
    await sites.advance(3000)
    const beforeSwitch = sites.clock.now()
    await sites.while(secondary.site.act('failover', { actor: 'alice', reason: 'a test', forwarded: false }))
    await sites.until('the secondary is active', () => sites.isSteady() && secondary.consumes)
    for (let i = 0; i < 12; i++) await sites.while(secondary.count(`key-${i}`))
    await sites.advance(3000)

    const stores = memoryProvider()
    let opened = 0
    const openStore: Audit['openStore'] = () => stores.open(`store-${++opened}`)
    const { log } = secondary.running!
    const audit: Audit = { source: { reader: log }, applicationId: 'test', processors: [countingProcessor], openStore }
    const replayed = await replayJournals(audit, { until: end })
    t.equal(replayed.length, PARTITIONS)
    for (const { gaps, topic, partition } of replayed) {
      t.equal(gaps.length, 1)
      const [gap] = gaps as [Gap]
      const mirror = { topic: `mirror.primary.${topic}`, partition }
      t.match(gap, { ...mirror, from: 0, to: (await log.offsets(mirror)).end })
      const own = await primary.running!.log.offsets({ topic, partition })
      t.equal(gap.to, own.end, 'all that the primary had')
      const announced = await log.read({ topic, partition }, gap.loadedAt ?? -1, { maxRecords: 1 })
      t.equal(announced.records[0]?.offset, gap.loadedAt)
      const text = `^GAP mirror.primary.${topic}/${partition}: records 0 to ${gap.to - 1} were loaded at record ${gap.loadedAt} `
      t.match(gapLines(gaps)[0], new RegExp(text))
    }
    for (const { verdict, notVerified, partition } of await verify(audit, {})) {
      t.equal(verdict, 'unknown')
      t.match(
        notVerified.at(-1)?.why,
        new RegExp(`records 0 to .* of mirror.primary.test-counting-journal/${partition} were loaded`),
      )
    }
    const question = { kind: 'subject', subject: 'key-1' } as const
    for (const { gaps } of (await stateAt(audit, { question, at: end })).weAnswered) t.equal(gaps.length, 1)
    for (const { gaps } of await explain(audit, { subject: 'key-1', at: end, limit: 3, every: true }))
      t.equal(gaps.length, 1)
    const directory = t.testdir()
    t.equal((await writeArchive(audit, { directory, segmentBytes: 200 })).gaps.length, PARTITIONS)
    const archived = { ...audit, source: await openArchive(directory) }
    for (const { gaps } of (await stateAt(archived, { question, at: end })).weAnswered) {
      t.ok(gaps.length === 1 && gaps[0]!.to > 0 && gaps[0]!.loadedAt !== null, 'also from a snapshot behind it')
    }
    const before = { ...audit, source: { reader: primary.running!.log } }
    for (const { gaps } of await replayJournals(before, { until: end }))
      t.same(gaps, [], 'the primary has loaded nothing')

    await t.test('what was true before a load is of what was loaded later, too', async (t) => {
      for (const one of [audit, archived]) {
        const { wasTrue, weAnswered } = await stateAt(one, { question, at: { kind: 'time', time: beforeSwitch } })
        const loaded = wasTrue?.map(({ gaps }) => gaps)
        t.match(loaded, [[{ topic: /^mirror\.primary/, from: 0, to: Number, loadedAt: Number }]])
        t.ok(
          loaded?.every(([gap]) => gap && gap.to > 0),
          'with its exact range',
        )
        const notLoaded = one === audit ? [{ topic: /^mirror\.primary/, from: 0, loadedAt: null }] : []
        t.match(
          weAnswered.map(({ gaps }) => gaps),
          [notLoaded],
          'then it was not loaded yet',
        )
      }
    })
    await t.test('what the other site has taken in since is named where it was not loaded', async (t) => {
      const partition = partitionOf('key-1', PARTITIONS)
      const endOf = async (of: Log, topic: string): Promise<number | undefined> =>
        (await of.topic(topic)) && (await of.offsets({ topic, partition })).end
      const isMirrored = async (): Promise<boolean> =>
        (await endOf(primary.running!.log, mirrored)) === (await endOf(log, 'test-counting-journal'))
      for (let tries = 0; tries < 240 && !(await isMirrored()); tries++) await sites.advance(500)
      const until = end
      const gapsOf = [
        (await stateAt(before, { question, at: until })).weAnswered[0]?.gaps,
        (await explain(before, { subject: 'key-1', at: until, limit: 3, every: true }))[0]?.gaps,
        (await whatIf(before, { set: {}, until, keys: ['key-1'] })).gaps,
        (await diffStates({ a: { audit: before, until }, b: { audit: before, until }, limit: 1, keys: ['key-1'] }))[0]
          ?.gaps,
      ]
      for (const gaps of gapsOf) {
        t.match(gaps, [{ topic: mirrored, from: 0, to: Number, loadedAt: null }])
        t.match(gapLines(gaps ?? []), [/are the other site's and were not loaded here/])
      }
      const past = await stateAt(before, { question, at: { kind: 'time', time: beforeSwitch } })
      t.same(past.weAnswered[0]?.gaps, [], 'of what it had answered before nothing depends on it')
    })

    const register = siteRegister('test-site') as Processor
    const ofRegister: Audit = { ...audit, applicationId: 'test-site', processors: [register] }
    t.match(await verify(ofRegister, {}), [{ domain: 'register', verdict: 'equal' }])
    const [told] = await explain(ofRegister, { subject: 'site', at: end, limit: 20, every: true })
    const requested = told?.steps.find(({ what }) => what === 'SwitchRequested')
    t.match(requested, {
      actor: 'alice',
      reason: 'a test',
      changes: [{ row: 'register/site', after: { target: 'secondary', phase: 'PRELOAD' } }],
    })
  },
)
