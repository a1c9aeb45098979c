import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import t from 'tap'
import { memoryProvider } from '../../state-stores/memory/provider.js'
import { countingProcessor } from '../counting-processor.js'
import { blockCodec } from '../journal/block-codec.js'
import type { JournalEntry } from '../journal/entry.js'
import { TopologyTestDriver } from '../test-driver.js'
import { JournalFold } from '../audit/journal-fold.js'
import { CountingRun, JOURNAL } from './counting-run.js'

const codec = blockCodec(countingProcessor.events)
const PARTITIONS = 2

/** The same events for everyone, whatever the machine: keys of many scripts, all modes whose results hold no position. */
function history(seed: number): JournalEntry[][] {
  const key = fc.constantFrom('a', 'B', 'ä', 'Ä', 'z', 'ß', 'ı', 'I', '字', '😀')
  const mode = fc.constantFrom('', '', 'survey', 'delete', 'timer', 'cancel', 'fail')
  const events = fc.array(fc.tuple(key, mode), { minLength: 120, maxLength: 120 })
  return Array.from({ length: PARTITIONS }, (_, partition) => {
    const [sample] = fc.sample(events, { seed: seed + partition, numRuns: 1 })
    return (sample ?? []).map(([key, mode], offset) => ({
      kind: 'event',
      source: { source: `given/${partition}`, offset, index: 0 },
      event: { type: 'Counted', data: { key, mode } },
    }))
  })
}

interface Way {
  /** Entries of one journal record. */
  readonly blockEntries: number
  readonly commitIntervalMs: number
  readonly stateCacheBytes: number
  /** Partition by partition, or in turns. */
  readonly interleaved: boolean
}

/** Digests with and without journal positions, after the history was folded in this way. */
async function digestsOf(seed: number, way: Way): Promise<{ rows: string[]; withoutPositions: string[] }> {
  const { blockEntries, interleaved, ...application } = way
  const driver = new TopologyTestDriver({ processors: [countingProcessor], partitions: PARTITIONS, application })
  await driver.start()
  const appends = history(seed).flatMap((entries, partition) =>
    Array.from({ length: Math.ceil(entries.length / blockEntries) }, (_, i) => ({
      partition,
      place: i,
      value: codec.encode(entries.slice(i * blockEntries, (i + 1) * blockEntries)),
    })),
  )
  if (interleaved) appends.sort((a, b) => a.place - b.place)
  for (const { partition, value } of appends) {
    await driver.log.append(JOURNAL, partition, [{ key: null, value }])
  }
  await driver.settle()
  await driver.digests()
  const digests = driver.application.tasks.map((task) => task.digest)
  await driver.stop()
  return {
    rows: digests.map(({ rows }) => rows.toHex()),
    withoutPositions: digests.map(({ withoutPositions }) => withoutPositions.toHex()),
  }
}

const plain: Way = {
  blockEntries: 10,
  commitIntervalMs: 100,
  stateCacheBytes: 1_000_000,
  interleaved: false,
}

if (process.argv[2] === 'digests') {
  process.stdout.write(JSON.stringify(await digestsOf(1, plain)))
} else {
  t.test('commits, caches, and the order of partitions leave no mark on the state', async (t) => {
    const expected = await digestsOf(1, plain)
    t.equal(new Set(expected.rows).size, PARTITIONS)
    const ways: readonly Partial<Way>[] = [
      { commitIntervalMs: 1 },
      { commitIntervalMs: 100_000 },
      { stateCacheBytes: 0 },
      { interleaved: true },
      { interleaved: true, stateCacheBytes: 0, commitIntervalMs: 1 },
    ]
    for (const way of ways) t.same(await digestsOf(1, { ...plain, ...way }), expected, JSON.stringify(way))
  })

  t.test('blocks of any size give the same state, but for the positions in it', async (t) => {
    const { withoutPositions } = await digestsOf(2, plain)
    for (const blockEntries of [1, 7, 120]) {
      t.same(
        (await digestsOf(2, { ...plain, blockEntries })).withoutPositions,
        withoutPositions,
        `${blockEntries} a block`,
      )
    }
  })

  t.test('a replay of the journal comes to the same state', async (t) => {
    const driver = new TopologyTestDriver({ processors: [countingProcessor], partitions: PARTITIONS })
    await driver.start()
    const run = new CountingRun(driver)
    await run.do({
      kind: 'records',
      partition: 0,
      values: ['a', 'b:send', 'c:timer', 'd:request', 'e:broadcast', 'f:survey'],
    })
    await run.do({ kind: 'command', id: 'command-1', key: 'a', mode: '' })
    await run.finish()
    const digests = await driver.digests()
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const store = await memoryProvider().open('replay')
      const journal = { topic: JOURNAL, partition }
      const fold = await JournalFold.open({ reader: driver.log, processor: countingProcessor, journal, store })
      await fold.foldTo((await driver.log.offsets(journal)).end)
      t.equal(fold.digest.rows.toHex(), digests[`counting/${partition}`])
    }
    await driver.stop()
  })

  t.test('another history gives another state', async (t) => {
    t.not((await digestsOf(1, plain)).rows[0], (await digestsOf(3, plain)).rows[0])
  })

  t.test('time zone and locale of the process leave no mark on the state', async (t) => {
    const expected = JSON.stringify(await digestsOf(1, plain))
    for (const env of [
      { TZ: 'Pacific/Kiritimati', LC_ALL: 'tr_TR.UTF-8' },
      { TZ: 'America/St_Johns', LC_ALL: 'C' },
    ]) {
      const { stdout, stderr } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), 'digests'], {
        env: { ...process.env, ...env },
        encoding: 'utf8',
      })
      t.equal(stdout, expected, `${env.TZ} ${stderr}`)
    }
  })
}
