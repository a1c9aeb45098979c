import t from 'tap'
import type { Test } from 'tap'
import { randomUUID } from 'node:crypto'
import { sleep, systemClock } from '../../common/clock.js'
import type { Clock } from '../../common/clock.js'
import { memoryProvider } from '../../state-stores/memory/provider.js'
import type { MemoryProvider } from '../../state-stores/memory/provider.js'
import { Application } from '../application.js'
import { countingProcessor } from '../counting-processor.js'
import { foreignClient } from '../log/kafka/foreign-client.js'
import { openKafkaLog } from '../log/kafka/kafka-log.js'
import { realBrokers } from '../log/kafka/real-brokers.js'
import type { Log } from '../log/log.js'
import { names } from '../names.js'
import { silentObserver } from '../observer.js'
import type { Processor } from '../processor.js'
import type { QueryResult } from '../streams.js'

const brokers = realBrokers(t)
const count = countingProcessor.queries[0]!
const keys = Array.from({ length: 40 }, (_, i) => `key-${i}`)

interface Instance {
  readonly application: Application
  /** Changelog records that full restores have read. */
  readonly restored: () => number
  readonly states: string[]
  readonly setAside: string[]
  stop(): Promise<void>
}

interface Cluster {
  readonly applicationId: string
  /** On stores that are left from before, or on none. */
  start(options?: { readonly stores?: MemoryProvider; readonly clock?: Clock }): Promise<Instance>
}

/** Instances of one application on topics of its own, each with a log and stores of its own. */
function clusterOf(t: Test, partitions: number): Cluster {
  const applicationId = `cluster-${randomUUID()}`
  const processor: Processor = {
    ...countingProcessor,
    inputs: countingProcessor.inputs.map((input) => ({ ...input, topic: `${applicationId}-in` })),
  }
  return {
    applicationId,
    async start({ stores = memoryProvider(), clock = systemClock } = {}) {
      let restored = 0
      const states: string[] = []
      const setAside: string[] = []
      const log = await openKafkaLog({
        brokers,
        clientId: applicationId,
        clock,
        onFatal: (error) => t.fail(error.message),
      })
      const application = new Application({
        ...{ applicationId, instance: randomUUID(), processors: [processor], log, partitions },
        ...{ stores, clock, createInputTopics: true },
        ...{
          commitIntervalMs: 50,
          changelogIntervalMs: 100,
          journalRetentionMs: 3_600_000,
          stateCacheBytes: 4 * 1024 * 1024,
        },
        observer: {
          ...silentObserver,
          onTaskState: (_domain, partition, state) => states.push(`${partition} ${state}`),
          onStandbyState: (_domain, partition, state) => states.push(`(${partition} ${state})`),
          onRestore: (_domain, _partition, { restoredRecords, offset, endOffset }) =>
            (restored += offset === endOffset ? restoredRecords : 0),
          onSetAside: (_domain, _partition, reason) => setAside.push(reason),
        },
        onFatal: (error) => t.fail(error.message),
      })
      let stopped: Promise<void> | undefined
      const stop = (): Promise<void> => (stopped ??= application.stop().then(() => log.close()))
      t.teardown(stop)
      await application.start()
      return { application, states, setAside, restored: () => restored, stop }
    },
  }
}

async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = systemClock.monotonic() + 30_000
  while (!(await condition())) {
    if (systemClock.monotonic() > deadline) throw new Error(`not reached in time: ${what}`)
    await sleep(systemClock, 20)
  }
}

const live = ({ application }: Instance): number => application.tasks.filter(({ state }) => state === 'LIVE').length
const warm = ({ application }: Instance): number =>
  application.standbys.filter(({ state }) => state === 'RUNNING').length

/** Every key once, at any instance. */
async function countAll({ application }: Instance): Promise<void> {
  const events = keys.map((key) => ({ key, event: { type: 'Counted', data: { key, mode: '' } }, original: null }))
  await application.ingest('counting', events)
}

/** What instances own, together, says so of each key. */
async function allAre(instances: readonly Instance[], expected: number): Promise<boolean> {
  let found = 0
  for (const { application } of instances) {
    for (const { partition } of application.tasks) {
      for (const key of keys) {
        const answer = await application.queryLocal('counting', count, partition, key, {}, 'active')
        if (answer.ok && answer.result === expected) found++
      }
    }
  }
  return found === keys.length
}

const ends = async (log: Log, topic: string): Promise<number> => (await log.offsets({ topic, partition: 0 })).end

if (brokers.length > 0) {
  t.setTimeout(120_000)

  t.test(
    'a second instance catches up, gets its share, and takes the rest over when the first leaves: no restore',
    async (t) => {
      const cluster = clusterOf(t, 4)
      const a = await cluster.start()
      await until('the first has all', () => live(a) === 4)
      await countAll(a)
      await until('all are counted', () => allAre([a], 1))
      const b = await cluster.start()
      await until('each has half, and copies of the other half', () =>
        [a, b].every((each) => live(each) === 2 && warm(each) === 2),
      )
      t.equal(a.states.filter((state) => state.endsWith(' RESTORING')).length, 4, 'what stayed rested at no time')
      const { restored } = b
      const read = restored()
      await countAll(b)
      await until('all are counted by both', () => allAre([a, b], 2))
      await a.stop()
      await until('the second has all', () => live(b) === 4)
      t.ok(await allAre([b], 2), 'at once')
      t.equal(restored(), read)
      t.same([...a.setAside, ...b.setAside], [])
      await countAll(b)
      await until('it goes on', () => allAre([b], 3))
    },
  )

  for (const [tail, aborts] of [
    ['the marker of a committed transaction', false],
    ['an aborted transaction', true],
  ] as const) {
    t.test(`RS-01 a changelog that ends with ${tail} is restored to its end`, async (t) => {
      const cluster = clusterOf(t, 1)
      const a = await cluster.start()
      await until('it is live', () => live(a) === 1)
      await countAll(a)
      await until('all are counted', () => allAre([a], 1))
      await a.stop()
      const changelog = names.changelog(cluster.applicationId, countingProcessor.store)
      if (aborts) {
        const foreign = await foreignClient(t, brokers)
        const rows = keys.map((key) => ({ key: Buffer.from(`\u0014${key}`), value: Buffer.from('aborted') }))
        await foreign.appendAborted({ topic: changelog, partition: 0 }, rows)
      }
      // Its stores are new: it has nothing but the changelog.
      const b = await cluster.start()
      await until('it is ready', () => b.application.readiness().ready)
      t.ok(await allAre([b], 1))
      t.ok(b.restored() >= keys.length, 'from the changelog')
      t.ok((await ends(b.application.log, changelog)) > b.restored(), 'markers count as offsets')
      t.same(b.setAside, [])
    })
  }

  t.test('RS-03 a damaged store, and one of a changelog made anew: set aside, saying why, and rebuilt', async (t) => {
    const cluster = clusterOf(t, 1)
    const stores = memoryProvider()
    const a = await cluster.start({ stores })
    await until('it is live', () => live(a) === 1)
    await countAll(a)
    await until('all are counted', () => allAre([a], 1))
    await a.stop()
    stores.corrupt(names.taskStore('counting', 0))
    const b = await cluster.start({ stores })
    await until('it is ready', () => b.application.readiness().ready)
    t.ok(await allAre([b], 1))
    t.match(b.setAside, [/is damaged/])
    await b.stop()
    const foreign = await foreignClient(t, brokers)
    await foreign.deleteTopic(names.changelog(cluster.applicationId, countingProcessor.store))
    const c = await cluster.start({ stores })
    await until('it is ready', () => c.application.readiness().ready)
    t.ok(await allAre([c], 1), 'from the journal')
    t.same(c.setAside, ['it was written to another changelog topic of the same name'])
  })

  t.test('after a pause longer than the session nothing is answered as owner before the group was heard', async (t) => {
    const cluster = clusterOf(t, 1)
    let ahead = 0
    const clock: Clock = { ...systemClock, monotonic: () => systemClock.monotonic() + ahead }
    const a = await cluster.start({ clock })
    await until('it is live', () => live(a) === 1)
    const ask = (role: 'active' | 'standby'): Promise<QueryResult<unknown>> =>
      a.application.queryLocal('counting', count, 0, 'key-0', {}, role)
    t.match(await ask('active'), { ok: true })
    ahead = 10_000
    t.match(await ask('active'), { ok: false, reason: 'notOwned' })
    t.match(a.application.readiness(), { ready: false })
    t.match(await ask('standby'), { ok: true, role: 'standby' })
    await until('the next heartbeat is answered', async () => (await ask('active')).ok)
  })
}
