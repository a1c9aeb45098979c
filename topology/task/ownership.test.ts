import t from 'tap'
import { manualClock } from '../../common/manual-clock.js'
import { blockCodec } from '../journal/block-codec.js'
import type { JournalEntry, OwnerEntry } from '../journal/entry.js'
import { countingProcessor } from '../counting-processor.js'
import { CHANGELOG, checkRun, CountingRun, inputRecord, JOURNAL } from '../system/counting-run.js'
import { TopologyTestDriver } from '../test-driver.js'
import type { TaskEnvironment } from './environment.js'
import { Ownership } from './ownership.js'

const codec = blockCodec(countingProcessor.events)

interface Subject {
  readonly driver: TopologyTestDriver
  readonly states: string[]
  readonly owner: (epoch: number, instance: string) => Promise<void>
  readonly owners: () => Promise<string[]>
}

async function started(): Promise<Subject> {
  const states: string[] = []
  const driver = new TopologyTestDriver({
    processors: [countingProcessor],
    partitions: 1,
    observer: { onTaskState: (_domain, _partition, state) => states.push(state) },
  })
  await driver.start()
  let sent = 0
  return {
    driver,
    states,
    async owner(epoch, instance) {
      const source = { source: `http/${instance}`, offset: sent++, index: 0 }
      const entry: JournalEntry = {
        kind: 'owner',
        source,
        epoch,
        foldVersion: 1,
        settings: '{}',
        preloaded: false,
        instance,
      }
      await driver.log.append(JOURNAL, 0, [{ key: null, value: codec.encode([entry]) }])
    },
    async owners() {
      const entries = (await driver.read(JOURNAL)).flatMap(({ value }) => codec.decode(value!))
      return entries.flatMap((e) => (e.kind === 'owner' ? [`${e.instance.replace(/start-.*/, 'own')} ${e.epoch}`] : []))
    },
  }
}

t.test("the first record of a journal is its first owner's, and the changelog has it before", async (t) => {
  const { driver, owners } = await started()
  await driver.pipe('count-me', inputRecord('a'))
  t.same(await owners(), ['own 1'])
  t.match(codec.decode((await driver.read(JOURNAL))[0]!.value!), [{ kind: 'owner' }])
  const [first] = await driver.read(CHANGELOG)
  t.match(first?.value?.toString(), /^{"epoch":1,"instance":"start-/)
  await driver.stop()
})

t.test('HTTP events are refused while a journal has had no owner', async (t) => {
  const driver = new TopologyTestDriver({ processors: [countingProcessor], partitions: 1 })
  const event = { type: 'Counted', data: { key: 'a', mode: '' } }
  const ingest = (): Promise<unknown> => driver.application.ingest('counting', [{ key: 'a', event, original: null }])
  await driver.start({ untilLive: false })
  await t.rejects(ingest(), { code: 'LOG_UNAVAILABLE' })
  await driver.settle()
  t.match(await ingest(), [{ partition: 0, offset: 1, index: 0 }])
  await driver.stop()
  await driver.start({ untilLive: false })
  t.match(await ingest(), [{ partition: 0 }], 'not held back by a later start')
  await driver.settle()
  await driver.stop()
})

t.test('each start is a term of its own, one more than the last', async (t) => {
  const { driver, owners, states } = await started()
  driver.crash()
  await driver.start()
  await driver.stop()
  await driver.start()
  t.same(await owners(), ['own 1', 'own 2', 'own 3'])
  t.equal(states.at(-1), 'LIVE')
  await driver.stop()
})

t.test('a foreign owner of the same epoch came first: announced anew, until its own is the newest', async (t) => {
  const done: string[] = []
  let epoch = 4
  const environment = {
    processor: countingProcessor,
    instance: 'me',
    partition: 0,
    changelogTopic: CHANGELOG,
    clock: manualClock(),
    observer: {},
    journalWriter: () => ({
      append: ([entry]: OwnerEntry[]) => Promise.resolve(done.push(`announced ${entry!.epoch}`)),
    }),
  } as unknown as TaskEnvironment
  const writer = { append: () => Promise.resolve([]), close: () => Promise.resolve() }
  const ownership = new Ownership(
    {
      environment,
      writer,
      signal: new AbortController().signal,
      epoch: () => epoch,
      onLive: (live) => done.push(`live ${live}`),
      onOutdone: (instance) => done.push(`outdone by ${instance}`),
      onFailed: (error) => done.push(error.message),
    },
    10,
  )
  const settle = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve))
  const read = (instance: string, of: number, isNewest: boolean): Promise<unknown> => {
    ownership.read({ kind: 'owner', owner: { instance, epoch: of } as OwnerEntry, isNewest })
    return settle()
  }
  await ownership.folded(9)
  await read('me', 3, true)
  t.same(done, [], 'not caught up; what it reads are terms before')
  await ownership.folded(10)
  t.same(done, ['announced 5'])
  epoch = 5
  await read('other', 5, true)
  t.same(done.splice(0), ['announced 5'], 'its own is still to come')
  await read('me', 5, false)
  t.same(done.splice(0), ['outdone by me', 'announced 6'])
  await read('me', 5, false)
  await read('me', 6, true)
  t.same(done.splice(0), ['live 6'], 'only its last announcement counts')
})

t.test('a newer foreign owner is read by a live task: it does not act until its next term', async (t) => {
  const { driver, owners, owner, states } = await started()
  const run = new CountingRun(driver)
  await run.do({ kind: 'records', partition: 0, values: ['a:timer', 'b:request', 'c'] })
  states.length = 0
  await owner(7, 'other')
  await driver.settle()
  t.same(states, ['RUNNING', 'LIVE'])
  t.same(await owners(), ['own 1', 'other 7', 'own 8'])
  await run.do({ kind: 'records', partition: 0, values: ['d:timer', 'e:request'] })
  await run.finish()
  await checkRun(run)
  await driver.stop()
})

t.test('a late owner of an older epoch changes nothing', async (t) => {
  const { driver, owners, owner, states } = await started()
  driver.crash()
  await driver.start()
  states.length = 0
  await owner(1, 'other')
  await driver.settle()
  t.same(states, [])
  t.same(await owners(), ['own 1', 'own 2', 'other 1'])
  await driver.stop()
})

t.test(
  'a task that was fenced does not announce itself behind its successor; it is opened anew if it is still here',
  async (t) => {
    const { driver, owners, owner, states } = await started()
    await driver.log.writer(`${JOURNAL}-0`)
    states.length = 0
    await owner(2, 'successor')
    await driver.settle()
    t.same(states, ['RUNNING', 'FAILED', 'CLOSED', 'RESTORING', 'RUNNING', 'LIVE'])
    t.same(await owners(), ['own 1', 'successor 2', 'own 3'])
    t.match(driver.application.readiness(), { ready: true })
    await driver.stop()
  },
)

t.test('the log refuses the announcement for a while: the task is live later', async (t) => {
  const { driver, states } = await started()
  await driver.stop()
  let isFull = false
  driver.wrapStore = (name, store) =>
    name === 'log'
      ? { ...store, write: (...given) => (isFull ? Promise.reject(new Error('full')) : store.write(...given)) }
      : store
  await driver.start({ untilLive: false })
  isFull = true
  await driver.settle()
  await driver.advance(3000)
  t.not(states.at(-1), 'LIVE')
  isFull = false
  await driver.advance(3000)
  t.equal(states.at(-1), 'LIVE')
  await driver.stop()
})
