import t from 'tap'
import type { Test } from 'tap'
import { manualClock } from '../../common/manual-clock.js'
import { createStoreDigest } from '../../state-stores/digest.js'
import type { KeyValueStore } from '../../state-stores/key-value-store.js'
import { memoryProvider } from '../../state-stores/memory/provider.js'
import { openEmbeddedLogAt } from '../log/embedded/embedded-log.js'
import type { Log, NewRecord } from '../log/log.js'
import type { Table } from '../processor.js'
import type { CommitRecord } from './commit-record.js'
import { restoreFromChangelog } from './restore.js'
import { CHANGELOG_MARKER, FIRST_ROW, tableRuntimes } from './table-runtime.js'

const at = { topic: 'changelog', partition: 0 }
const words: Table<string> = {
  name: 'words',
  codec: { encode: (word) => Buffer.from(word), decode: (bytes) => bytes.toString() },
  indexes: { 'by-word': { entries: (key, word) => [{ key: `${word}/${key}`, value: word }] } },
}
const tables = [words] as unknown as readonly Table<unknown>[]
const indexPrefix = tableRuntimes(tables).at(-1)?.indexes[0]?.prefix ?? ''
const DEADLINE = '\u0011'
const UNKNOWN_TABLE = '\u0030'
const commit = { offset: 7, time: 5 } as CommitRecord
const going = new AbortController().signal

type Rows = ReadonlyMap<string, string>

const row = (key: string, value: string | null): NewRecord => {
  return { key: Buffer.from(key), value: value === null ? null : Buffer.from(value) }
}

/** Closes rows, as a task that has these. */
function marker(rows: Rows): NewRecord {
  const digest = createStoreDigest()
  for (const [key, value] of rows) if (key.startsWith(FIRST_ROW)) digest.add(Buffer.from(key), Buffer.from(value))
  const sealed = digest.serialize().toString('base64')
  return row(CHANGELOG_MARKER, JSON.stringify({ ...commit, digest: sealed }))
}

async function subject(t: Test): Promise<{ readonly log: Log; readonly store: KeyValueStore }> {
  const stores = memoryProvider()
  const log = await openEmbeddedLogAt(stores, 'log', {
    clock: manualClock(),
    newIncarnation: () => '1',
    onCleanError: (error) => t.fail(error.message),
  })
  t.teardown(() => log.close())
  await log.createTopics([
    {
      ...{ name: at.topic, partitions: 1, cleanup: 'compact', retentionMs: -1, retentionBytes: -1 },
      timestampType: 'LogAppendTime',
    },
  ])
  return { log, store: await stores.open('store') }
}

/** Rows and index entries, without the engine's notes of itself. */
async function textsOf(store: KeyValueStore): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for await (const page of store.texts({ gte: Buffer.from(DEADLINE) })) Object.assign(found, Object.fromEntries(page))
  return found
}

function expected(rows: Rows): Record<string, string> {
  const entries = [...rows].filter(([key]) => key.startsWith(FIRST_ROW))
  const indexed = entries.map(([key, word]) => [`${indexPrefix}${word}/${key.slice(1)}`, word])
  return Object.fromEntries([...rows, ...indexed]) as Record<string, string>
}

for (const keys of [3000, 60_000]) {
  t.test(`the newest rows of ${keys} keys are restored, with their indexes, whatever they were before`, async (t) => {
    const { log, store } = await subject(t)
    const rows = new Map<string, string>()
    const records: NewRecord[] = []
    const put = (key: string, value: string | null): void => {
      records.push(row(key, value))
      if (value === null) rows.delete(key)
      else rows.set(key, value)
    }
    for (let i = 0; i < keys; i++) put(`${FIRST_ROW}key-${i}`, `first-é-${i % 7}`)
    for (let i = 0; i < keys; i += 3) put(`${FIRST_ROW}key-${i}`, `second-${i % 5}`)
    for (let i = 0; i < keys; i += 5) put(`${FIRST_ROW}key-${i}`, null)
    for (let i = 0; i < keys; i += 7) put(`${DEADLINE}due-${i}`, i % 2 === 0 ? 'armed' : null)
    put(`${FIRST_ROW}key-0`, 'again')
    put(`${UNKNOWN_TABLE}other`, 'version')
    records.push(marker(rows))
    for (let i = 0; i < records.length; i += 5000) await log.append(at.topic, 0, records.slice(i, i + 5000))
    const told: number[] = []
    const found = await restoreFromChangelog(log, at, store, tables, going, (progress) => told.push(progress.offset))
    t.match(found, commit)
    t.same(await textsOf(store), expected(rows))
    t.equal(told.at(-1), records.length)
  })
}

t.test('a row that compaction has taken meanwhile is waited for; nothing of the first try is left', async (t) => {
  const { log, store } = await subject(t)
  const [a, b] = [`${FIRST_ROW}a`, `${FIRST_ROW}b`]
  const sealed = new Map([
    [a, 'old'],
    [b, 'old'],
  ])
  // The row of `a` is gone already.
  await log.append(at.topic, 0, [row(b, 'old'), marker(sealed)])
  const now = new Map([[a, 'new']])
  let looks = 0
  const growing: Pick<Log, 'offsets' | 'read'> = {
    async offsets(partition) {
      if (++looks === 2) await log.append(at.topic, 0, [row(a, 'new'), row(b, null), marker(now)])
      return log.offsets(partition)
    },
    read: (partition, offset) => log.read(partition, offset),
  }
  t.match(await restoreFromChangelog(growing, at, store, tables, going, () => undefined), commit)
  t.same(await textsOf(store), expected(now))
  t.equal(looks, 2)
})
