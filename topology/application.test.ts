import t from 'tap'
import { counts, countingProcessor } from './counting-processor.js'
import { StoreError } from '../state-stores/errors.js'
import type { InputRecord } from './processor.js'
import { TopologyTestDriver } from './test-driver.js'
import { turn, unheardRejections } from './test-kit.js'
import { queryReader } from './task/query-reader.js'

const record = (value: string): { key: null; value: Buffer } => ({ key: null, value: Buffer.from(value) })

async function countOf(driver: TopologyTestDriver, key: string): Promise<number | undefined> {
  for (const task of driver.application.tasks) {
    const row = await queryReader(task).get(counts, key)
    if (row !== undefined) return row.count
  }
  return undefined
}

t.test('records of an input are counted by key, in whatever partition they came', async (t) => {
  const driver = new TopologyTestDriver({ processors: [countingProcessor] })
  await driver.start()
  t.match(driver.application.readiness(), { ready: true })
  await driver.pipe('count-me', [record('a'), record('b'), record('a')], 0)
  await driver.pipe('count-me', [record('a')], 1)
  t.equal(await countOf(driver, 'a'), 3)
  t.equal(await countOf(driver, 'b'), 1)
  const outputs = await driver.read('count-changes')
  t.equal(outputs.length, 4)
  t.equal(new Set(outputs.map((output) => output.headers.find(([name]) => name === 'ce_id')?.[1].toString())).size, 4)
  await driver.stop()
})

t.test('ready again after a restart without new input', async (t) => {
  const driver = new TopologyTestDriver({ processors: [countingProcessor] })
  await driver.start()
  await driver.pipe('count-me', ['a', 'b', 'a'].map(record), 1)
  await driver.stop()
  await driver.start()
  t.match(driver.application.readiness(), { ready: true, reasons: [] })
  driver.crash()
  await driver.start()
  t.match(driver.application.readiness(), { ready: true, reasons: [] })
  await driver.stop()
})

t.test('not ready before inputs are read up to where they ended at the start', async (t) => {
  const driver = new TopologyTestDriver({ processors: [countingProcessor] })
  await driver.start()
  await driver.stop()
  await driver.start({ untilLive: false })
  await driver.log.append('count-me', 2, [record('a')])
  await driver.stop()
  let release: () => void = () => undefined
  const held = new Promise<void>((resolve) => (release = resolve))
  const input = countingProcessor.inputs[0]!
  const slow = { ...input, decode: (given: InputRecord) => held.then(() => input.decode(given)) }
  const again = new TopologyTestDriver({
    processors: [{ ...countingProcessor, inputs: [slow] }],
    stores: driver.stores,
  })
  await again.start()
  t.same(again.application.readiness(), {
    ready: false,
    reasons: ['input count-me/2 is not yet read up to offset 1, where it ended at the start'],
    restoring: [],
  })
  release()
  await again.settle()
  t.match(again.application.readiness(), { ready: true, reasons: [] })
  await again.stop()
})

t.test(
  'while the log refuses writes callers are told in time, and what they gave up waiting is not sent',
  async (t) => {
    const driver = new TopologyTestDriver({ processors: [countingProcessor] })
    let isFull = false
    driver.wrapStore = (name, store) => ({
      ...store,
      write: (operations, options) =>
        name === 'log' && isFull
          ? Promise.reject(new StoreError('STORE_WRITE_FAILED', 'no space left on device'))
          : store.write(operations, options),
    })
    await driver.start()
    isFull = true
    const event = { type: 'Counted', data: { key: 'a', mode: '' } }
    const ingest = (): Promise<unknown> =>
      driver.application.ingest('counting', [{ key: 'a', event, original: null }]).catch((error: unknown) => error)
    const first = ingest()
    await driver.settle()
    const second = ingest()
    const command = driver.application.command('counting', { key: 'a' }, event, { commandId: 'c', timeoutMs: 5000 })
    await driver.advance(10_000)
    t.match(await first, { code: 'LOG_UNAVAILABLE' })
    t.match(await second, { code: 'LOG_UNAVAILABLE' })
    t.match(await command, { ok: false, reason: 'outcomeOpen' })
    isFull = false
    await driver.advance(1000)
    t.equal(await countOf(driver, 'a'), 1, 'only the one whose send was under way')
    await driver.stop()
  },
)

t.test('a log that closes under whatever it writes leaves no refusal that nobody hears', async (t) => {
  const unheard = unheardRejections(t)
  const modes = ['', 'send', 'broadcast', 'timer', 'request', 'once', 'intake', 'deadLetter', 'fail']
  let refused = 0
  let hasClosed = true
  for (let closesAt = 1; hasClosed; closesAt++) {
    const driver = new TopologyTestDriver({
      processors: [countingProcessor],
      observer: { onError: () => refused++ },
    })
    let isArmed = false
    let writes = 0
    hasClosed = false
    driver.wrapStore = (name, store) => ({
      ...store,
      async write(operations, options) {
        if (name === 'log' && isArmed && ++writes === closesAt) {
          hasClosed = true
          void driver.log.close()
        }
        await store.write(operations, options)
      },
    })
    await driver.start()
    const { application, log } = driver
    isArmed = true
    const asked = modes.flatMap((mode) => {
      const event = { type: 'Counted', data: { key: mode, mode } }
      return [
        log.append('count-me', 1, [record(`of-input:${mode}`)]),
        application.ingest('counting', [{ key: mode, event, original: null }]),
        application.command('counting', { key: mode }, event, { commandId: mode, timeoutMs: 1000 }),
      ].map((answer: Promise<unknown>) => answer.catch(() => undefined))
    })
    for (let passed = 0; passed < 2000; passed += 100) {
      await driver.clock.advance(100)
      for (let turns = 0; turns < 3; turns++) await turn()
    }
    await application.stop()
    await Promise.all(asked)
    await log.close()
    await turn()
  }
  t.ok(refused > 0)
  t.strictSame(unheard, [])
})

t.test('the directory names this instance as owner of what it holds', async (t) => {
  const driver = new TopologyTestDriver({ processors: [countingProcessor] })
  await driver.start()
  const { directory } = driver.application
  t.same(directory.instances, [{ url: '', token: '', isSelf: true }])
  for (const partition of [0, 1, 2]) {
    t.same(directory.holders('counting', partition), { owner: { url: '', token: '', isSelf: true }, standbys: [] })
  }
  t.same(directory.holders('counting', 3), { owner: undefined, standbys: [] })
  await driver.stop()
})

t.test('an application stopped while it starts joins no group, and begins no term', async (t) => {
  const driver = new TopologyTestDriver({ processors: [countingProcessor] })
  const starting = driver.start({ untilLive: false })
  const begun = (): boolean => {
    try {
      return driver.application.tasks.length === 0
    } catch {
      return false
    }
  }
  while (!begun()) await Promise.resolve()
  await driver.application.stop()
  await starting
  await driver.settle()
  t.same(driver.application.tasks, [])
  t.same(await driver.read('test-counting-journal'), [])
  await driver.stop()
})
