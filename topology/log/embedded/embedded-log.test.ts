import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { manualClock } from '../../../common/manual-clock.js'
import type { StoreProvider } from '../../../state-stores/key-value-store.js'
import { memoryProvider } from '../../../state-stores/memory/provider.js'
import { rocksDbProvider } from '../../../state-stores/rocksdb/provider.js'
import type { Log } from '../log.js'
import { logContract } from '../log-contract.js'
import type { LogHarness } from '../log-contract.js'
import type { EmbeddedLog, EmbeddedLogOptions } from './embedded-log.js'
import { openEmbeddedLogAt } from './embedded-log.js'

type Settings = Partial<EmbeddedLogOptions>

const drivers: readonly (readonly [string, (t: Test) => Promise<StoreProvider>, Settings])[] = [
  ['memory', () => Promise.resolve(memoryProvider()), {}],
  [
    'memory without tail cache, few keys a compaction pass',
    () => Promise.resolve(memoryProvider()),
    { cacheBytes: 0, compactionKeys: 2 },
  ],
  ['RocksDB', rocksDb, {}],
  ['RocksDB with a small tail cache', rocksDb, { cacheBytes: 2_000 }],
]

async function rocksDb(test: Test): Promise<StoreProvider> {
  const directory = await mkdtemp(join(tmpdir(), 'embedded-log-'))
  test.teardown(() => rm(directory, { recursive: true }))
  return rocksDbProvider({ directory })
}

function harnessOf(newStores: (t: Test) => Promise<StoreProvider>, settings: Settings): LogHarness {
  const clock = manualClock()
  const storesOf = new Map<Log, StoreProvider>()
  let topics = 0

  async function open(test: Test, stores: StoreProvider): Promise<EmbeddedLog> {
    const log = await openEmbeddedLogAt(stores, 'log', {
      clock,
      newIncarnation: () => `incarnation ${++topics}`,
      onCleanError: (error) => test.fail(error.message),
      ...settings,
    })
    storesOf.set(log, stores)
    test.teardown(() => log.close())
    return log
  }

  return {
    open: async (test) => open(test, await newStores(test)),
    async reopen(test, log) {
      await log.close()
      return open(test, storesOf.get(log)!)
    },
    clean: (log) => (log as EmbeddedLog).clean(),
    deleteRetentionMs: 24 * 3_600_000,
    deleteBefore: (log, partition, offset) => (log as EmbeddedLog).deleteBefore(partition, offset),
    passTime: (ms) => clock.advance(ms),
    stepWallClock: (ms) => clock.stepWall(ms),
    keepsHeaderOrder: true,
  }
}

for (const [name, newStores, settings] of drivers) {
  t.test(`the log contract on ${name}`, (test) => logContract(test, harnessOf(newStores, settings)))
}
