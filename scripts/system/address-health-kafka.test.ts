import t from 'tap'
import { foreignClient } from '../../topology/log/kafka/foreign-client.js'
import { realBrokers } from '../../topology/log/kafka/real-brokers.js'
import { partitionOf } from '../../topology/partitioner.js'
import { onKafka, temporaryFolder } from './fixtures.js'
import { begunAt, outcome, platformsOf } from './outcomes.js'
import { spawnPulsefold } from './real-process.js'
import type { RealProcess } from './real-process.js'
import { until } from './until.js'

const brokers = realBrokers(t)
const PARTITIONS = 2
const TAKEOVER_MS = 60_000
const RETRY_MS = 1500
const ADDRESSES = ['a1', 'a2', 'a3']

if (brokers.length > 0) {
  t.test('HS-14 RS-12 while owners are killed alarms come once, totals are exact, one retry at a time', async (t) => {
    const client = await foreignClient(t, brokers)
    const values = { ...(await onKafka(t, brokers)), partitions: PARTITIONS }
    const { callOutcomeTopic, alarmTopic } = values
    const start = (folder: string): RealProcess => spawnPulsefold(t, folder, { values })
    const folders = [temporaryFolder(t), temporaryFolder(t)]
    const running = folders.map(start)
    for (const process of running) await process.ready
    const at = (instance: number) => platformsOf(running[instance]!, alarmTopic)
    /** kill -9, and a start on the same data; the other one answers meanwhile. */
    const kill = async (instance: number): Promise<void> => {
      running[instance]!.kill('SIGKILL')
      await running[instance]!.ended
      running[instance] = start(folders[instance]!)
      const other = platformsOf(running[1 - instance]!, alarmTopic)
      const isAnswered = async (name: string): Promise<boolean> =>
        other.addresses(name).then(
          () => true,
          () => false,
        )
      for (const name of names) await until(`${name} is answered`, () => isAnswered(name), TAKEOVER_MS)
    }
    /** A platform in each partition, so that each owner has one; another one counts all. */
    const names = Array.from({ length: PARTITIONS }, (_, partition) => {
      const tried = Array.from({ length: 100 }, (_, n) => `vm-${n}`)
      return tried.find((name) => partitionOf(name, PARTITIONS) === partition)!
    })
    for (const name of names) await at(0).create(name, ADDRESSES, { detectInterval: 1000, retryInterval: RETRY_MS })
    await at(1).create('counts', ADDRESSES, { detectInterval: 3_600_000 })

    let sent = 0
    const done = new AbortController()
    const load = (async () => {
      while (!done.signal.aborted) {
        const records = ADDRESSES.map((address) => outcome('counts', address, 'success'))
        await client.append({ topic: callOutcomeTopic ?? '', partition: sent % PARTITIONS }, records)
        sent++
      }
    })()
    const fail = async (instance: number): Promise<void> => {
      await at(instance).report(names.map((platform) => ({ platform, address: 'a1', result: 'failure' })))
      for (const name of names) await at(instance).stateIs(name, 'failed')
    }
    await fail(0)
    await kill(0)
    /** When each retry has begun, by platform. */
    const begun = new Map(names.map((name) => [name, [] as number[]]))
    let retries = 0
    const retryUntilActive = async (name: string): Promise<boolean> => {
      const instance = retries % 2
      const attemptId = (await at(instance).select(name))?.attemptId
      if (attemptId !== undefined) {
        begun.get(name)?.push(begunAt(attemptId))
        retries++
        // In the middle of the repair, and of a retry; a takeover may outlast it, which then counts as failed.
        if (retries === 2 || retries === 5) await kill(instance)
        await at(1 - instance).report([{ platform: name, address: 'a1', result: 'success', attemptId }])
      }
      return (await at(1 - instance).addresses(name))[0]?.state === 'active'
    }
    for (const name of names) {
      await until(`${name} is active`, () => retryUntilActive(name).catch(() => false), 3 * TAKEOVER_MS)
      const times = begun.get(name)!
      for (const [n, time] of times.slice(1).entries()) t.ok(time - times[n]! >= RETRY_MS, 'one retry at a time')
    }
    for (const process of running) await process.ready
    await fail(1)
    await kill(0)
    done.abort()
    await load
    const total = (): Promise<string> =>
      at(1)
        .addresses('counts')
        .then((addresses) => addresses.map(({ window }) => window.calls).join())
        .catch(() => 'not answered')
    await until('all calls are counted', async () => (await total()) === ADDRESSES.map(() => sent).join(), TAKEOVER_MS)
    t.comment(`${sent * ADDRESSES.length} outcomes`)
    const alarms = await at(1).alarms(3 * names.length)
    for (const name of names) {
      t.same(
        alarms.filter((alarm) => alarm.includes(` ${name}/1 `)),
        [`raised ${name}/1 THRESHOLD`, `cleared ${name}/1 REPAIRED`, `raised ${name}/1 THRESHOLD`],
      )
    }
  })
}
