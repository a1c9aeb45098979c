import t from 'tap'
import { StoreError } from '../../state-stores/errors.js'
import type { KeyValueStore } from '../../state-stores/key-value-store.js'
import { countingProcessor } from '../counting-processor.js'
import { blockCodec } from '../journal/block-codec.js'
import type { JournalEntry } from '../journal/entry.js'
import { countingModel } from '../system/counting-model.js'
import { checkRun, CountingRun, inputRecord, JOURNAL } from '../system/counting-run.js'
import { TopologyTestDriver } from '../test-driver.js'
import type { TestDriverOptions } from '../test-driver.js'

const codec = blockCodec(countingProcessor.events)
const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g']

async function started(options: Partial<TestDriverOptions> = {}) {
  const errors: string[] = []
  const driver = new TopologyTestDriver({
    processors: [countingProcessor],
    partitions: 1,
    application: { stateCacheBytes: 0 },
    observer: { onError: (_where, error) => errors.push(error.message) },
    ...options,
  })
  let read: KeyValueStore['getMany'] | undefined
  driver.wrapStore = (name, store) =>
    name === 'log' ? store : { ...store, getMany: (asked) => (read ?? store.getMany)(asked) }
  await driver.start()
  const run = new CountingRun(driver)
  return {
    run,
    driver,
    errors,
    /** Replaces reads of rows; undefined: as they are. */
    setRead: (next: KeyValueStore['getMany'] | undefined) => (read = next),
    finish: async () => {
      await run.finish()
      await checkRun(run)
      await driver.stop()
    },
  }
}

t.test('a failed task: records go on being taken in, and none is lost after the restart', async (t) => {
  const { run, driver, finish } = await started()
  await run.do({ kind: 'records', partition: 0, values: keys })
  driver.application.tasks[0]?.fail(new Error('a bug'))
  await run.do({ kind: 'records', partition: 0, values: [...keys, 'h:send', 'i:timer'] })
  await driver.advance(2000)
  t.match(driver.application.readiness(), { ready: false, reasons: ['task counting/0: a bug'] })
  await driver.stop()
  await driver.start()
  t.match(driver.application.readiness(), { ready: true })
  await finish()
})

t.test('a read that fails in the middle of a record: the rest is folded when it is delivered again', async (t) => {
  const { driver, errors, setRead, finish } = await started()
  const unavailable = new StoreError('STORE_UNAVAILABLE', 'too many open files')
  let reads = 0
  const values = Array.from({ length: 900 }, (_, i) => `${keys[i % keys.length]}:${i % 100 === 0 ? 'survey' : ''}`)
  const original = driver.application.tasks[0]!.rows.store
  setRead((asked) => (++reads % 3 === 0 ? Promise.reject(unavailable) : original.getMany(asked)))
  await driver.log.append('count-me', 0, values.map(inputRecord))
  await driver.advance(20_000, 100)
  setRead(undefined)
  t.ok(errors.includes('too many open files'))
  await finish()
})

t.test(
  'a task closed while a batch is folded commits no part of a record, and goes on after the restart',
  async (t) => {
    const { run, driver, setRead, finish } = await started()
    await run.do({ kind: 'records', partition: 0, values: keys })
    const task = driver.application.tasks[0]!
    let release: () => void = () => undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    const original = task.rows.store
    setRead((asked) => held.then(() => original.getMany(asked)))
    await driver.log.append(
      'count-me',
      0,
      Array.from({ length: 600 }, (_, i) => inputRecord(keys[i % 7]!)),
    )
    await driver.settle()
    const closed = task.close()
    await driver.settle()
    setRead(undefined)
    release()
    await closed
    t.equal(task.state, 'CLOSED')
    await run.restart()
    await finish()
  },
)

t.test('no commit splits a journal record, however large it is and however often commits come', async (t) => {
  const { driver, finish } = await started({ application: { commitIntervalMs: 1, stateCacheBytes: 0 } })
  const entries = Array.from({ length: 2000 }, (_, offset): JournalEntry => {
    const data = { key: keys[offset % keys.length]!, mode: offset % 97 === 0 ? 'survey' : '' }
    return { kind: 'event', source: { source: 'given', offset, index: 0 }, event: { type: 'Counted', data } }
  })
  const committed: { offset: number; digest: string }[] = []
  const task = driver.application.tasks[0]!
  // Time goes by at every step, so that a commit is due between any two segments.
  driver.probe = async (step) => {
    if (step === 'folded') await driver.clock.advance(5)
    if (step === 'store written') committed.push({ offset: task.committedOffset, digest: task.digest.rows.toHex() })
  }
  for (const size of [700, 1300]) {
    const value = codec.encode(entries.splice(0, size))
    await driver.log.append(JOURNAL, 0, [{ key: null, value }])
  }
  await driver.settle()
  driver.probe = undefined
  const records = await driver.read(JOURNAL)
  t.ok(committed.length > 0)
  for (const { offset, digest } of committed) {
    const model = countingModel(
      JOURNAL,
      0,
      1,
      records.filter((record) => record.offset < offset),
    )
    t.equal(digest, model.digest, `the commit at offset ${offset} stands for all before it, and no more`)
  }
  await finish()
})

t.test('a foreign record in the journal is said, skipped, and holds nobody up', async (t) => {
  const { driver, run, errors } = await started()
  await driver.log.append(JOURNAL, 0, [
    { key: null, value: Buffer.from('not a block') },
    { key: Buffer.from('k'), value: null },
  ])
  await run.do({ kind: 'records', partition: 0, values: ['a'] })
  t.match(errors, [/test-counting-journal\/0\/\d+ is skipped: journal block has format version 110/])
  t.match(await driver.application.query('counting', countingProcessor.queries[0]!, 'a', 'a'), { ok: true, result: 1 })
  await driver.stop()
  await driver.start()
  t.match(await driver.application.query('counting', countingProcessor.queries[0]!, 'a', 'a'), { ok: true, result: 1 })
  await driver.stop()
})

t.test('commands of one id that race are folded once, and every caller gets the one answer', async (t) => {
  const { driver, finish } = await started()
  const event = { type: 'Counted', data: { key: 'a', mode: '' } }
  const send = (commandId: string): Promise<unknown> =>
    driver.application.command('counting', { key: 'a' }, event, { commandId, timeoutMs: 5000 })
  const answers = await Promise.all(['x', 'x', 'y', 'x', 'y'].map(send))
  for (const [i, count] of [1, 1, 2, 1, 2].entries()) t.match(answers[i], { ok: true, answer: { key: 'a', count } })
  await driver.advance(500)
  t.match(await send('x'), { ok: true, answer: { count: 1 } }, 'also after a commit')
  t.match(await driver.application.query('counting', countingProcessor.queries[0]!, 'a', 'a'), { ok: true, result: 2 })
  await finish()
})
