import t from 'tap'
import { manualClock } from '../../common/manual-clock.js'
import type { ManualClock } from '../../common/manual-clock.js'
import { createStoreDigest } from '../../state-stores/digest.js'
import type { StoreDigest } from '../../state-stores/digest.js'
import { memoryProvider } from '../../state-stores/memory/provider.js'
import { blockCodec } from '../journal/block-codec.js'
import { countingProcessor, totals } from '../counting-processor.js'
import { openEmbeddedLogAt } from '../log/embedded/embedded-log.js'
import type { EmbeddedLog } from '../log/embedded/embedded-log.js'
import type { Log } from '../log/log.js'
import { ownTopics } from '../topics.js'
import { writeChangelog } from './changelog.js'
import { commitOperations } from './commit-record.js'
import type { CommitRecord } from './commit-record.js'
import type { TaskEnvironment } from './environment.js'
import { ONCE_OUTPUTS } from './table-runtime.js'
import { openTaskStore } from './open-store.js'
import type { OpenedStore } from './open-store.js'

const JOURNAL = { topic: 'app-counting-journal', partition: 0 }
const CHANGELOG = { topic: 'app-counts-changelog', partition: 0 }
const STORE = 'counting-0'

interface Subject {
  readonly clock: ManualClock
  readonly environment: TaskEnvironment
  readonly log: EmbeddedLog
  readonly commit: CommitRecord
  readonly setAside: string[]
  open(signal?: AbortSignal): Promise<OpenedStore>
}

/** A journal of 20 records, and an empty changelog. */
async function subject(wrap: (log: Log) => Log = (log) => log): Promise<Subject> {
  const clock = manualClock()
  const stores = memoryProvider()
  let incarnations = 0
  const log = await openEmbeddedLogAt(stores, 'log', {
    clock,
    newIncarnation: () => `incarnation-${++incarnations}`,
    onCleanError: () => undefined,
  })
  await log.createTopics(
    ownTopics([countingProcessor], { applicationId: 'app', partitions: 1, journalRetentionMs: -1 }),
  )
  const codec = blockCodec(countingProcessor.events)
  for (let i = 0; i < 20; i++) await log.append(JOURNAL.topic, 0, [{ key: null, value: codec.encode([]) }])
  const setAside: string[] = []
  const observer = { onSetAside: (reason: string) => setAside.push(reason), onRestore: () => 0, onError: () => 0 }
  const environment = {
    processor: countingProcessor,
    partition: 0,
    journalTopic: JOURNAL.topic,
    changelogTopic: CHANGELOG.topic,
    storeName: STORE,
    clock,
    log: wrap(log),
    stores,
    settings: { blockCacheBytes: 0 },
    observer,
  } as unknown as TaskEnvironment
  const commit: CommitRecord = {
    offset: 10,
    incarnation: (await log.topic(JOURNAL.topic))?.incarnation ?? '',
    changelog: { incarnation: (await log.topic(CHANGELOG.topic))?.incarnation ?? '', end: 0, offset: -1 },
    time: clock.now(),
    epoch: 1,
    foldVersion: 1,
    foldedBy: 1,
    outputs: 10,
    settings: null,
  }
  return {
    clock,
    environment,
    log,
    commit,
    setAside,
    open: (signal = new AbortController().signal) => openTaskStore({ ...environment, onRead: () => undefined }, signal),
  }
}

async function writeStore(
  { environment }: Subject,
  commit: CommitRecord,
  rows: readonly (readonly [key: string, value: Buffer])[] = [],
): Promise<void> {
  const store = await environment.stores.open(STORE)
  await store.write([
    { key: Buffer.from('\u0014a'), value: Buffer.of(2, 0, 0) },
    ...rows.map(([key, value]) => ({ key: Buffer.from(key), value })),
    ...commitOperations(commit, createStoreDigest().serialize()),
  ])
  await store.close()
}

const TOTAL = totals.codec.encode({ total: 1 })

function sealedDigest(): StoreDigest {
  const digest = createStoreDigest()
  digest.add(Buffer.from('\u0015all'), TOTAL)
  return digest
}

/** Rows and a marker in the changelog, as a task writes them. */
async function writeMarker({ environment, log }: Subject, commit: CommitRecord): Promise<void> {
  const store = await environment.stores.open('rows')
  await store.write([{ key: Buffer.from('\u0015all'), value: TOTAL }])
  const writer = await log.writer('writer')
  const committed = async (keys: readonly string[]): Promise<(Buffer | null)[]> =>
    (await store.getMany(keys.map((key) => Buffer.from(key)))).map((value) => value ?? null)
  await writeChangelog(writer, CHANGELOG, committed, ['\u0015all'], commit, sealedDigest().serialize(), {
    ...CHANGELOG,
    records: [],
  })
  await store.close()
}

t.test('a store that fits the logs is gone on from', async (t) => {
  const s = await subject()
  await writeStore(s, s.commit)
  t.match(await s.open(), { commit: s.commit })
  t.same(s.setAside, [])
})

const misfits: readonly (readonly [what: string, change: Partial<CommitRecord>, reason: string])[] = [
  ['stands for another journal', { incarnation: 'other' }, 'it stands for another journal topic of the same name'],
  ['is ahead of the journal', { offset: 21 }, "it stands at offset 21, beyond the journal's end 20"],
  [
    'was written to another changelog',
    { changelog: { incarnation: 'other', end: 0, offset: -1 } },
    'it was written to another changelog topic of the same name',
  ],
]
for (const [what, change, reason] of misfits) {
  t.test(`RS-03 a store that ${what} is set aside, and the journal folded from its start`, async (t) => {
    const s = await subject()
    await writeStore(s, { ...s.commit, ...change })
    t.match(await s.open(), { commit: { offset: 0, epoch: 0 } })
    t.same(s.setAside, [reason])
  })
}

t.test('RS-03 a changelog that ends before what was written to it: rebuilt from what it has now', async (t) => {
  const s = await subject()
  await writeStore(s, { ...s.commit, changelog: { ...s.commit.changelog, end: 500 } })
  await writeMarker(s, { ...s.commit, offset: 7 })
  const opened = await s.open()
  t.match(opened.commit, { offset: 7, changelog: { end: 2 } })
  t.equal(await opened.store.get(Buffer.from('\u0014a')), undefined, 'old keys are gone')
  t.ok(await opened.store.get(Buffer.from('\u0015all')))
  t.same(s.setAside, ['it was written to a changelog up to 500, which now ends at 2'])
})

for (const [what, change, reason] of misfits.slice(0, 2)) {
  t.test(`a changelog that ${what} is not restored from; its keys are written anew`, async (t) => {
    const s = await subject()
    await writeMarker(s, { ...s.commit, ...change })
    const { commit, store } = await s.open()
    t.match(commit, { offset: 0, epoch: 0 })
    t.same(s.setAside, [reason.replace('it ', 'the changelog ')])
    const lists: string[] = []
    for await (const page of store.texts({ gte: Buffer.of(2), lt: Buffer.of(3) })) lists.push(...page.map(([, v]) => v))
    t.same(lists, ['["\\u0015all"]'])
  })
}

t.test('a store older than the journal reaches back is brought on by the changelog, else set aside', async (t) => {
  const s = await subject()
  await writeStore(s, s.commit)
  await writeMarker(s, { ...s.commit, offset: 15 })
  await s.log.deleteBefore(JOURNAL, 12)
  t.match(await s.open(), { commit: { offset: 15 }, changelogOffset: 15 })
  t.same(s.setAside, [])
  const without = await subject()
  await writeStore(without, without.commit)
  await without.log.deleteBefore(JOURNAL, 12)
  await t.rejects(without.open(), { code: 'JOURNAL_GAP' })
  t.same(without.setAside, ["it stands at offset 10, before the journal's start 12"])
})

t.test('a journal that no longer reaches back to the newest state: the start says so and stops', async (t) => {
  const s = await subject()
  await writeMarker(s, { ...s.commit, offset: 10 })
  await s.log.deleteBefore(JOURNAL, 12)
  await t.rejects(s.open(), { code: 'JOURNAL_GAP', details: { from: 10, to: 12 } })
  await t.rejects(s.open(), { code: 'JOURNAL_GAP' }, 'the store was closed, so it opens again')
})

t.test('a changelog with rows but no marker is not restored from; its keys are written anew', async (t) => {
  const s = await subject()
  await s.log.append(CHANGELOG.topic, 0, [
    { key: Buffer.from('\u0015all'), value: Buffer.of(2, 0) },
    { key: Buffer.from('\u0001owner'), value: Buffer.from('{}') },
  ])
  const { store, commit } = await s.open()
  t.match(commit, { offset: 0 })
  t.match(s.setAside, [/does not give its state: it has no marker/])
  t.equal(await store.get(Buffer.from('\u0015all')), undefined)
})

t.test('a changelog that holds no more than its owners is empty', async (t) => {
  const s = await subject()
  await s.log.append(CHANGELOG.topic, 0, [{ key: Buffer.from('\u0001owner'), value: Buffer.from('{}') }])
  t.match(await s.open(), { commit: { offset: 0 } })
  t.same(s.setAside, [])
})

t.test('a restore that is stopped leaves no store open', async (t) => {
  const s = await subject()
  await writeMarker(s, s.commit)
  await t.rejects(s.open(AbortSignal.abort()), { code: 'TASK_NOT_RUNNING' })
  t.match(await s.open(), { commit: { offset: 10 } })
})

t.test('a log that cannot be read while restoring leaves no store open', async (t) => {
  let fails = true
  const s = await subject((log) => ({
    ...log,
    topic: (name) => log.topic(name),
    offsets: (partition) => log.offsets(partition),
    read: (partition, offset) => (fails ? Promise.reject(new Error('no broker')) : log.read(partition, offset)),
  }))
  await writeMarker(s, s.commit)
  await t.rejects(s.open(), { message: 'no broker' })
  fails = false
  t.match(await s.open(), { commit: { offset: 10 } })
})

t.test('a store that the changelog has left behind is brought on by it, not rebuilt', async (t) => {
  const s = await subject()
  await writeStore(s, s.commit)
  await writeMarker(s, { ...s.commit, offset: 15, time: s.clock.now() + 9 })
  const { commit, changelogOffset, store, digest } = await s.open()
  t.match(commit, { offset: 15, time: s.clock.now() + 9, changelog: { end: 2, offset: 15 } })
  t.equal(changelogOffset, 15)
  t.ok(await store.get(Buffer.from('\u0015all')))
  t.ok(await store.get(Buffer.from('\u0014a')), 'what it had')
  t.same(digest.serialize(), sealedDigest().serialize())
  t.same(s.setAside, [])
})

t.test('a store that the changelog brings to another state than it sealed is rebuilt from it', async (t) => {
  const s = await subject()
  await writeStore(s, s.commit, [['\u0015all', Buffer.of(8, 0, 0)]])
  await writeMarker(s, { ...s.commit, offset: 15 })
  const { commit, store } = await s.open()
  t.match(commit, { offset: 15 })
  t.equal(await store.get(Buffer.from('\u0014a')), undefined)
  t.match(s.setAside, [/does not give its state: its marker at journal offset 15 sealed another/])
})

t.test('a store ahead of the changelog is gone on from; by another fold version it is rebuilt', async (t) => {
  for (const [foldedBy, reasons] of [
    [1, []],
    [2, ['it is ahead of the changelog by fold version 2, and this is 1']],
  ] as const) {
    const s = await subject()
    await writeMarker(s, { ...s.commit, offset: 8 })
    await writeStore(s, { ...s.commit, foldedBy })
    t.match(await s.open(), { commit: { offset: reasons.length === 0 ? 10 : 8 }, changelogOffset: 8 })
    t.same(s.setAside, reasons)
  }
})

t.test('by another fold version a store that stands where the changelog does is gone on from', async (t) => {
  const s = await subject()
  await writeMarker(s, s.commit)
  await writeStore(s, { ...s.commit, foldedBy: 2 })
  t.match(await s.open(), { commit: { offset: 10 }, changelogOffset: 10 })
  t.same(s.setAside, [])
})

t.test(
  'a store older than the changelog keeps tombstones is rebuilt, unless the changelog has nothing beyond it',
  async (t) => {
    for (const [ageMs, offset, isRebuilt] of [
      [24 * 3_600_000, 15, false],
      [24 * 3_600_000 + 1, 15, true],
      [100 * 3_600_000, 10, false],
      [100 * 3_600_000, 8, false],
    ] as const) {
      const s = await subject()
      const commit = { ...s.commit, time: s.clock.now() - ageMs }
      await writeStore(s, commit)
      await writeMarker(s, { ...commit, offset })
      t.match(await s.open(), { commit: { offset: Math.max(10, offset) } })
      t.match(
        s.setAside,
        isRebuilt ? [/older than the changelog keeps what was deleted/] : [],
        `${ageMs} ms, ${offset}`,
      )
    }
  },
)

t.test('rows that the store alone knows of: brought on when the changelog has them, else rebuilt', async (t) => {
  for (const [lacking, reasons] of [
    ['\u0015all', []],
    ['\u0011gone', [/the store has changed rows that it does not tell of/]],
  ] as const) {
    const s = await subject()
    await writeStore(s, s.commit, [['\u00020000000000000010', Buffer.from(JSON.stringify([lacking]))]])
    await writeMarker(s, { ...s.commit, offset: 15 })
    const { store } = await s.open()
    t.match(s.setAside, reasons)
    t.equal(await store.get(Buffer.from('\u00020000000000000010')), undefined)
  }
})

t.test('outputs that are out beyond the commit are known, from the commit itself and from the changelog', async (t) => {
  const out = async (s: Subject, offset: number): Promise<unknown> =>
    s.log.append(CHANGELOG.topic, 0, [
      {
        key: Buffer.from(ONCE_OUTPUTS),
        value: Buffer.from(JSON.stringify({ offset, incarnation: s.commit.incarnation })),
      },
    ])
  for (const [outputs, told, expected] of [
    [0, 0, 10],
    [14, 0, 14],
    [14, 12, 14],
    [14, 17, 17],
  ] as const) {
    const s = await subject()
    await out(s, 19)
    // What stands before the commit's end of the changelog the commit knows of.
    await writeStore(s, { ...s.commit, outputs, changelog: { ...s.commit.changelog, end: 1 } })
    if (told > 0) await out(s, told)
    t.match((await s.open()).outputs, { offset: expected })
  }
})

t.test(
  'a store that does not say who folded it, nor what is out, is one of an earlier version: gone on from',
  async (t) => {
    const s = await subject()
    const { foldedBy: _foldedBy, outputs: _outputs, changelog, ...others } = s.commit
    const { offset: _offset, ...end } = changelog
    await writeStore(s, { ...others, changelog: end } as CommitRecord)
    t.match(await s.open(), { commit: { offset: 10, foldedBy: 1, outputs: 0 }, outputs: { offset: 10 } })
    t.same(s.setAside, [])
  },
)

t.test('a topic that the log does not know for a moment is no other topic: the store is left as it is', async (t) => {
  let unknown = ''
  const known = await subject((log) => ({
    ...log,
    offsets: (at) => log.offsets(at),
    read: (...asked) => log.read(...asked),
    topic: (name) => (name === unknown ? Promise.resolve(undefined) : log.topic(name)),
  }))
  await writeStore(known, known.commit)
  for (unknown of [JOURNAL.topic, CHANGELOG.topic]) await t.rejects(known.open(), { code: 'TOPIC_UNKNOWN' })
  unknown = ''
  const { commit, store } = await known.open()
  await store.close()
  t.equal(commit.offset, 10)
  t.same(known.setAside, [])
})

t.test('a log that fails in the middle leaves no store open: the next try opens it', async (t) => {
  let calls = 0
  let failing = 0
  const failed = new Error('the log does not answer')
  const opening = await subject((log) => {
    const unless = <Result>(work: () => Promise<Result>): Promise<Result> =>
      ++calls === failing ? Promise.reject(failed) : work()
    const topic: Log['topic'] = (name) => unless(() => log.topic(name))
    const offsets: Log['offsets'] = (at) => unless(() => log.offsets(at))
    const read: Log['read'] = (...given) => unless(() => log.read(...given))
    return Object.create(log, { topic: { value: topic }, offsets: { value: offsets }, read: { value: read } }) as Log
  })
  for (failing = 1; ; failing++) {
    calls = 0
    const opened = await opening.open().catch((thrown: unknown) => thrown)
    if (opened === failed) continue
    await (opened as OpenedStore).store.close()
    break
  }
  t.ok(failing > 5, `it failed at each of ${failing - 1} calls`)
})
