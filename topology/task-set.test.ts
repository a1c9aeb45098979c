import t from 'tap'
import type { Test } from 'tap'
import { StoreError } from '../state-stores/errors.js'
import type { KeyValueStore } from '../state-stores/key-value-store.js'
import { countingProcessor } from './counting-processor.js'
import { checkRun, CountingRun, inputRecord } from './system/counting-run.js'
import type { Action } from './system/counting-run.js'
import { TopologyTestDriver } from './test-driver.js'
import type { TestDriverOptions } from './test-driver.js'

const STORE = 'counting-1'
const work: readonly Action[] = [
  { kind: 'records', partition: 0, values: ['a', 'b', 'c:timer', 'd:request', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l'] },
  { kind: 'command', id: 'command-1', key: 'a', mode: 'send' },
  { kind: 'advance', ms: 2500 },
]
const more: readonly Action[] = [
  { kind: 'records', partition: 2, values: ['a', 'b:send', 'c', 'd', 'e', 'f', 'g', 'h:broadcast', 'i', 'j:survey'] },
  { kind: 'command', id: 'command-2', key: 'b', mode: 'timer' },
  { kind: 'advance', ms: 500 },
]
/** Stores are checked so often. */
const CHECK_INTERVAL_MS = 3_600_000
const damage = new StoreError('STORE_CORRUPT', 'checksum mismatch')

interface Subject {
  readonly run: CountingRun
  readonly driver: TopologyTestDriver
  readonly states: string[]
  readonly setAside: string[]
  /** What goes wrong from now on with the store that is open. */
  break(faults: (store: KeyValueStore) => Partial<KeyValueStore>): void
  repair(): void
}

/** No rows are cached, so that each fold reads the store. */
async function started(options: Partial<TestDriverOptions> = {}): Promise<Subject> {
  const states: string[] = []
  const setAside: string[] = []
  const driver = new TopologyTestDriver({
    processors: [countingProcessor],
    application: { stateCacheBytes: 0 },
    observer: {
      onTaskState: (_domain, partition, state) => states.push(`${partition} ${state}`),
      onSetAside: (_domain, partition, reason) => setAside.push(`${partition} ${reason}`),
    },
    ...options,
  })
  let faults: Partial<KeyValueStore> = {}
  let store: KeyValueStore | undefined
  driver.wrapStore = (name, opened) => {
    if (name !== STORE) return opened
    store = opened
    faults = {}
    return new Proxy(opened, { get: (_target, method) => Reflect.get({ ...opened, ...faults }, method) as unknown })
  }
  await driver.start()
  const run = new CountingRun(driver)
  for (const action of work) await run.do(action)
  states.length = 0
  return {
    run,
    driver,
    states,
    setAside,
    break: (make) => {
      if (store !== undefined) faults = make(store)
    },
    repair: () => (faults = {}),
  }
}

async function finished(t: Test, { run, driver }: Subject): Promise<void> {
  await run.repeatCommands()
  await run.finish()
  await checkRun(run)
  t.match(driver.application.readiness(), { ready: true, reasons: [] })
  await driver.stop()
}

const failingReads = (): Partial<KeyValueStore> => ({
  get: () => Promise.reject(damage),
  getMany: () => Promise.reject(damage),
})
const count = countingProcessor.queries[0]!

t.test('a fold that cannot read its rows: the store is set aside and rebuilt, and nothing is lost', async (t) => {
  const subject = await started()
  const { run, driver, states, setAside } = subject
  subject.break(failingReads)
  await run.do(more[0]!)
  t.same(setAside, ['1 checksum mismatch'])
  t.same(states, ['1 FAILED', '1 CLOSED', '1 RESTORING', '1 RUNNING', '1 LIVE'])
  t.match(driver.application.readiness(), { ready: true, reasons: [] })
  for (const action of more.slice(1)) await run.do(action)
  await finished(t, subject)
})

t.test('a query that meets the damage is told to come again, and gets its answer then', async (t) => {
  const subject = await started()
  const { driver, setAside } = subject
  subject.break(failingReads)
  const ask = (): Promise<unknown> => driver.application.queryAll('counting', count, 'a')
  t.match(await ask(), [{ ok: true }, { ok: false, reason: 'storeFailed' }, { ok: true }])
  t.match(await ask(), [{ ok: true }, { ok: false, reason: 'restoring', retryAfterMs: 1000 }, { ok: true }])
  await driver.settle()
  t.match(await ask(), [{ ok: true }, { ok: true }, { ok: true }])
  t.same(setAside, ['1 checksum mismatch'])
  await finished(t, subject)
})

for (const [what, faults] of [
  ['a commit', (): Partial<KeyValueStore> => ({ write: () => Promise.reject(damage) })],
  ['the changelog', failingReads],
  [
    'the check',
    (): Partial<KeyValueStore> => ({
      entries: () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(damage) }) }),
    }),
  ],
] as const) {
  t.test(`damage met by ${what} is mended the same way`, async (t) => {
    const subject = await started()
    const { run, setAside } = subject
    await run.do({ kind: 'records', partition: 0, values: ['a', 'b:timer', 'c:timer', 'd:timer', 'e', 'f', 'g', 'h'] })
    subject.break(faults)
    for (const action of more.slice(1)) await run.do(action)
    await run.driver.clock.advance(CHECK_INTERVAL_MS)
    await run.driver.advance(3000)
    t.same(setAside, ['1 checksum mismatch'])
    await finished(t, subject)
  })
}

t.test(
  'a store found damaged, and the process killed before it is mended: not trusted after the restart',
  async (t) => {
    const subject = await started()
    const { run, setAside } = subject
    subject.break(() => ({ getMany: () => Promise.reject(damage), close: () => new Promise(() => undefined) }))
    await run.do(more[0]!)
    t.same(setAside, [], 'still closing')
    await run.restart()
    t.same(setAside, ['1 it has rows but no position'])
    for (const action of more.slice(1)) await run.do(action)
    await finished(t, subject)
  },
)

t.test('a stop while a store is rebuilt ends at once; the next start goes on', async (t) => {
  const subject = await started()
  const { run, driver } = subject
  subject.break(failingReads)
  const query = driver.application.queryPartition('counting', count, 1, 'a')
  t.match(await query, { ok: false })
  await driver.stop()
  await driver.start()
  for (const action of more) await run.do(action)
  await finished(t, subject)
})

t.test('a store that cannot be rebuilt stays failed, says why, and leaves the other partitions alone', async (t) => {
  const subject = await started()
  const { run, driver } = subject
  driver.stores.setAside = () => Promise.reject(new StoreError('STORE_IN_USE', 'still in use'))
  subject.break(failingReads)
  await run.do(more[0]!)
  await driver.advance(5000)
  t.match(driver.application.readiness(), { ready: false, reasons: [/counting\/1/] })
  t.match(await driver.application.queryAll('counting', count, 'a'), [{ ok: true }, { ok: false }, { ok: true }])
  await driver.stop()
})

t.test('a start that fails for one partition opens each store once, and tries again', async (t) => {
  const driver = new TopologyTestDriver({ processors: [countingProcessor] })
  await driver.start()
  await driver.stop()
  let fails = 2
  driver.wrapStore = (name, store) =>
    name === STORE
      ? {
          ...store,
          getMany: (keys) =>
            fails-- > 0
              ? Promise.reject(new StoreError('STORE_UNAVAILABLE', 'too many open files'))
              : store.getMany(keys),
        }
      : store
  await driver.start()
  t.match(driver.application.readiness(), { ready: false })
  await driver.advance(1000)
  t.match(driver.application.readiness(), { ready: true, reasons: [] })
  await driver.pipe('count-me', ['a', 'b', 'c'].map(inputRecord))
  await driver.stop()
})

t.test(
  'RS-07 a partition whose store is not to be touched fails for good; nothing is deleted, the others run',
  async (t) => {
    const driver = new TopologyTestDriver({ processors: [countingProcessor] })
    const refused = new StoreError('STORE_NOT_A_DIRECTORY', 'data/counting-1 is not a directory')
    driver.wrapStore = (name, store) => {
      if (name === STORE) throw refused
      return store
    }
    await driver.start()
    await driver.advance(20_000, 1000)
    t.match(driver.application.readiness(), {
      ready: false,
      reasons: ['task counting/1: data/counting-1 is not a directory'],
    })
    t.match(await driver.application.queryAll('counting', count, 'a'), [
      { ok: true, result: 0 },
      { ok: false, reason: 'storeFailed' },
      { ok: true, result: 0 },
    ])
    await driver.stop()
  },
)
