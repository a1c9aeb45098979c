import t from 'tap'
import { StoreError } from '../../state-stores/errors.js'
import type { Entry, KeyRange, KeyValueStore } from '../../state-stores/key-value-store.js'
import { commitKeys } from '../task/commit-record.js'
import { queryReader } from '../task/query-reader.js'
import { counts, countingProcessor } from '../counting-processor.js'
import type { EngineObserver } from '../observer.js'
import { TopologyTestDriver } from '../test-driver.js'
import { CHANGELOG, checkRun, CountingRun, inputRecord, stopAt } from './counting-run.js'
import type { Action } from './counting-run.js'

const first: readonly Action[] = [
  { kind: 'records', partition: 0, values: ['a', 'b', 'a:send', 'c:timer', 'd', 'e:request', 'x', 'x:delete'] },
  { kind: 'command', id: 'command-1', key: 'a', mode: 'timer' },
  { kind: 'advance', ms: 2500 },
]
const second: readonly Action[] = [
  { kind: 'records', partition: 1, values: ['a', 'f:broadcast', 'd:delete', 'g:timer', 'h:survey'] },
  { kind: 'advance', ms: 450 },
  { kind: 'command', id: 'command-2', key: 'b', mode: 'send' },
]

interface Subject {
  readonly run: CountingRun
  readonly driver: TopologyTestDriver
  readonly setAside: string[]
  readonly errors: string[]
  readonly folded: () => number
}

async function started(
  prepare: (driver: TopologyTestDriver) => void = () => undefined,
  observer: Partial<EngineObserver> = {},
): Promise<Subject> {
  const setAside: string[] = []
  const errors: string[] = []
  let folded = 0
  const driver = new TopologyTestDriver({
    processors: [countingProcessor],
    observer: {
      onSetAside: (_domain, partition, reason) => setAside.push(`${partition}: ${reason}`),
      onError: (where, error) => errors.push(`${where}: ${error.message}`),
      onFolded: (_domain, _partition, entries) => (folded += entries),
      ...observer,
    },
  })
  prepare(driver)
  await driver.start()
  return { run: new CountingRun(driver), driver, setAside, errors, folded: () => folded }
}

async function doAll(run: CountingRun, actions: readonly Action[]): Promise<void> {
  for (const action of actions) await run.do(action)
}

const loseDisk = (driver: TopologyTestDriver): void => {
  for (const name of driver.taskStores) driver.stores.destroy(name)
}

t.test('after a local commit before the changelog: a restart, then the loss of the disk', async (t) => {
  const { run, driver, setAside } = await started()
  await doAll(run, first)
  const { probe, stopped } = stopAt('store written', 0, 1)
  driver.probe = probe
  await doAll(run, second)
  t.ok(stopped())
  await run.restart()
  await driver.advance(1500, 50)
  await run.restart(() => loseDisk(driver))
  await run.finish()
  await checkRun(run)
  t.same(setAside, [])
  await driver.stop()
})

t.test('the loss of the disk alone: all comes back from changelog and journal, also twice', async (t) => {
  const { run, driver, folded } = await started()
  await doAll(run, first)
  await driver.advance(2000)
  const before = folded()
  await run.restart(() => loseDisk(driver))
  t.ok(folded() - before <= 3 * 2, `from the newest marker only owners are folded again: ${folded() - before}`)
  await doAll(run, second)
  await run.restart(() => loseDisk(driver))
  await run.finish()
  await checkRun(run)
  await driver.stop()
})

t.test('two crashes in a row, the second before the task is live again', async () => {
  const { run, driver } = await started()
  await doAll(run, first)
  await doAll(run, second)
  driver.crash()
  await driver.start({ untilLive: false })
  driver.crash()
  await driver.start({ untilLive: false })
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve))
  await run.restart()
  await run.finish()
  await checkRun(run)
  await driver.stop()
})

t.test('a crash during restore, before the position is written: the half store is set aside', async (t) => {
  const { run, driver, setAside } = await started()
  await doAll(run, first)
  await driver.advance(2000)
  driver.crash()
  loseDisk(driver)
  let crashes = 0
  driver.wrapStore = (name, store) => ({
    ...store,
    write(operations, options) {
      const isPosition = Array.isArray(operations) && operations.length === commitKeys.length
      if (name !== 'counting-0' || !isPosition || crashes++ > 0) return store.write(operations, options)
      driver.crash()
      return new Promise(() => undefined)
    },
  })
  await driver.start({ untilLive: false }).catch(() => undefined)
  for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve))
  t.equal(crashes, 1)
  await driver.start()
  t.match(setAside, [/it has rows but no position/])
  await run.repeatCommands()
  await doAll(run, second)
  await run.finish()
  await checkRun(run)
  await driver.stop()
})

t.test('a store ahead of a journal that lost its tail is set aside, saying why', async (t) => {
  const { run, driver, setAside } = await started()
  await doAll(run, first)
  await driver.advance(2000)
  await driver.stop()
  const copy = await contentOf(driver, 'log')
  await driver.start()
  await doAll(run, second)
  await driver.advance(2000)
  driver.crash()
  driver.stores.destroy('log')
  await write(driver, 'log', copy)
  await driver.start()
  t.ok(setAside.length > 0)
  for (const reason of setAside) t.match(reason, /it stands at offset \d+, beyond the journal's end \d+/)
  await run.finish()
  await checkRun(run)
  t.match(driver.application.readiness(), { ready: true })
  await driver.stop()
})

t.test('a store of another log is set aside, saying why', async (t) => {
  const { run, driver, setAside } = await started()
  await doAll(run, first)
  driver.crash()
  driver.stores.destroy('log')
  await driver.start()
  t.equal(setAside.length, driver.partitions)
  for (const reason of setAside) t.match(reason, /it stands for another journal topic of the same name/)
  const again = new CountingRun(driver)
  await doAll(again, second)
  await again.finish()
  await checkRun(again)
  await driver.stop()
})

t.test('RS-07 a store that does not open is set aside and rebuilt from the changelog', async (t) => {
  const { run, driver, setAside, folded } = await started()
  await doAll(run, first)
  await driver.advance(2000)
  const before = folded()
  await run.restart(() => {
    for (const name of driver.taskStores) driver.stores.corrupt(name)
  })
  t.same(
    setAside.sort(),
    driver.taskStores.map((name, partition) => `${partition}: the store ${name} is damaged`),
  )
  t.ok(folded() - before <= 3 * 2, 'rebuilt from the changelog, not from the journal')
  await doAll(run, second)
  await run.finish()
  await checkRun(run)
  await driver.stop()
})

/** Reads that a start makes of a store, each by what makes it fail. */
const readsAtStart: Readonly<Record<string, (store: KeyValueStore) => Partial<KeyValueStore>>> = {
  'its position': (store) => ({ getMany: () => store.getMany([]).then(() => Promise.reject(damage)) }),
  'its resident rows': (store) => failingEntries(store, 0x10),
  'the keys that the changelog lacks': (store) => failingEntries(store, 0x02),
}
const damage = new StoreError('STORE_CORRUPT', 'cannot read from the store')

for (const [what, damaged] of Object.entries(readsAtStart)) {
  t.test(`RS-05 a store that opens, but does not give ${what}, is rebuilt from the changelog`, async (t) => {
    const { run, driver, setAside } = await started()
    await doAll(run, first)
    await driver.advance(2000)
    driver.crash()
    let opened = 0
    driver.wrapStore = (name, store) =>
      name === 'counting-1' && opened++ === 0 ? { ...store, ...damaged(store) } : store
    await driver.start()
    t.same(setAside, ['1: cannot read from the store'])
    await run.repeatCommands()
    await doAll(run, second)
    await run.finish()
    await checkRun(run)
    t.match(driver.application.readiness(), { ready: true })
    await driver.stop()
  })
}

t.test('a changelog that does not give what its marker sealed: rebuilt from the journal, and mended', async (t) => {
  const { run, driver, setAside, errors } = await started()
  await doAll(run, first)
  await driver.advance(2000)
  const row = (await driver.read(CHANGELOG)).find(({ key }) => key !== null && key[0] === 0x14)
  t.ok(row)
  const forged = { key: Buffer.from('\u0014forged'), value: row?.value ?? null }
  await driver.log.append(CHANGELOG, row?.partition ?? 0, [forged])
  await doAll(run, second)
  await driver.advance(2000)
  await run.restart(() => loseDisk(driver))
  t.match(setAside, [/does not give its state/])
  t.match(errors.join(), /its marker at journal offset \d+ sealed another/)
  await driver.advance(2000)
  const before = setAside.length
  await run.restart(() => loseDisk(driver))
  t.equal(setAside.length, before, 'the next restore finds a changelog that is whole again')
  await run.finish()
  await checkRun(run)
  await driver.stop()
})

t.test('RS-02 an empty changelog: ready at once, and what is not there is known not to be there', async (t) => {
  const { driver } = await started()
  t.match(driver.application.readiness(), { ready: true, reasons: [] })
  const query = countingProcessor.queries[0]!
  t.match(await driver.application.query('counting', query, 'a', 'a'), { ok: true, result: 0, role: 'active' })
  await driver.advance(60_000, 1000)
  t.match(driver.application.readiness(), { ready: true, reasons: [] })
  await driver.stop()
  await driver.start()
  t.match(driver.application.readiness(), { ready: true, reasons: [] })
  await driver.stop()
})

/** Makes a store refuse writes while `full` says so, however often it is opened. */
function fillDisk(driver: TopologyTestDriver, full: () => boolean): void {
  const refuse = (): Promise<void> => Promise.reject(new StoreError('STORE_WRITE_FAILED', 'no space left on device'))
  driver.wrapStore = (name, store) =>
    name === 'counting-0'
      ? { ...store, write: (operations, options) => (full() ? refuse() : store.write(operations, options)) }
      : store
}

t.test(
  'RS-11 a full disk: nothing is committed past what is stored, queries are served, then all is exact',
  async (t) => {
    let isFull = false
    const { run, driver } = await started((driver) => fillDisk(driver, () => isFull))
    await doAll(run, first)
    await driver.advance(2000)
    const task = driver.application.tasks[0]!
    const committed = task.committedOffset
    const keys = ['a', 'b', 'c', 'n', 'o', 'p', 'q']
    const before = await Promise.all(keys.map((key) => countOf(driver, key)))
    isFull = true
    for (let turn = 0; turn < 5; turn++) {
      await driver.pipe('count-me', keys.map(inputRecord), turn % driver.partitions)
      await driver.advance(1200)
    }
    t.ok(task.offset > committed, 'folding goes on')
    t.equal(task.committedOffset, committed)
    t.match(driver.application.readiness(), { ready: false, reasons: [/counting\/0: no space left on device/] })
    const totals = await Promise.all(keys.map((key) => countOf(driver, key)))
    t.same(
      totals,
      before.map((count) => count + 5),
    )
    isFull = false
    await driver.advance(2000, 100)
    t.ok(task.committedOffset > committed)
    t.match(driver.application.readiness(), { ready: true })
    await run.finish()
    await checkRun(run)
    await run.restart()
    t.same(await Promise.all(keys.map((key) => countOf(driver, key))), totals)
    await driver.stop()
  },
)

t.test('RS-11 a store that lost what was committed, when it is opened anew, is rebuilt', async (t) => {
  let isFull = false
  const { run, driver, setAside } = await started((driver) => fillDisk(driver, () => isFull))
  await doAll(run, first)
  await driver.advance(2000)
  isFull = true
  await doAll(run, second)
  await driver.advance(500)
  driver.stores.losePower('counting-0')
  isFull = false
  await driver.advance(3000)
  t.match(setAside, [/^0: the store stands at offset 0 after it was opened anew, not at \d+/])
  await run.finish()
  await checkRun(run)
  await driver.stop()
})

t.test('RS-11 a crash while the disk is full loses nothing', async () => {
  let isFull = false
  const { run, driver } = await started((driver) => fillDisk(driver, () => isFull))
  await doAll(run, first)
  isFull = true
  await doAll(run, second)
  await driver.advance(3000)
  await run.restart(() => void (isFull = false))
  await run.finish()
  await checkRun(run)
  await driver.stop()
})

t.test('RS-11 a service with a full disk still stops, and goes on from there when there is room', async (t) => {
  let isFull = false
  const { run, driver } = await started((driver) => fillDisk(driver, () => isFull))
  await doAll(run, first)
  isFull = true
  await doAll(run, second)
  const stopped = driver.stop().then(() => 'stopped')
  await driver.clock.advance(5000)
  t.equal(await stopped, 'stopped')
  isFull = false
  await driver.start()
  await run.repeatCommands()
  await run.finish()
  await checkRun(run)
  await driver.stop()
})

t.test('the log refuses writes for a while: tried again, in order, and nothing is lost or doubled', async (t) => {
  const { run, driver, errors } = await started()
  await doAll(run, first)
  for (let turn = 0; turn < 6; turn++) {
    driver.stores.failWrites('log', 1)
    await driver.log.append('count-me', 0, [inputRecord('a')]).catch(() => undefined)
    driver.stores.failWrites('log', 2)
    await driver.advance(500)
  }
  await doAll(run, second)
  await run.finish()
  t.ok(errors.length > 0)
  await checkRun(run)
  await run.restart()
  await run.finish()
  await checkRun(run)
  await driver.stop()
})

async function countOf(driver: TopologyTestDriver, key: string): Promise<number> {
  const found = await Promise.all(driver.application.tasks.map((task) => queryReader(task).get(counts, key)))
  return found.reduce((sum, row) => sum + (row?.count ?? 0), 0)
}

async function contentOf(driver: TopologyTestDriver, name: string): Promise<[Buffer, Buffer][]> {
  const store = await driver.stores.open(name)
  const content: [Buffer, Buffer][] = []
  for await (const page of store.entries())
    content.push(...page.map(([key, value]) => [key, value] as [Buffer, Buffer]))
  await store.close()
  return content
}

async function write(driver: TopologyTestDriver, name: string, content: [Buffer, Buffer][]): Promise<void> {
  const store = await driver.stores.open(name)
  await store.write(content.map(([key, value]) => ({ key, value })))
  await store.close()
}

/** A walk over keys that begin with this byte fails once it has found something. */
function failingEntries(store: KeyValueStore, first: number): Partial<KeyValueStore> {
  async function* entries(range?: KeyRange): AsyncGenerator<readonly Entry[]> {
    for await (const page of store.entries(range)) {
      if (range?.gte?.[0] === first && page.length > 0) throw damage
      yield page
    }
  }
  return { entries }
}
