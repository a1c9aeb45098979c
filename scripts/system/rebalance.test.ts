import t from 'tap'
import { foreignClient } from '../../topology/log/kafka/foreign-client.js'
import { realBrokers } from '../../topology/log/kafka/real-brokers.js'
import { parseMarker } from '../../topology/task/changelog.js'
import { CHANGELOG_MARKER } from '../../topology/task/table-runtime.js'
import { onKafka, temporaryFolder } from './fixtures.js'
import { outcome, platformsOf } from './outcomes.js'
import { spawnPulsefold } from './real-process.js'
import type { RealProcess } from './real-process.js'
import { until } from './until.js'

const brokers = realBrokers(t)
const PARTITIONS = 2
const MOVE_MS = 120_000
const ADDRESSES = ['a1', 'a2', 'a3', 'a4', 'a5']
const BACKLOG = 5000

if (brokers.length > 0) {
  t.test(
    'RB-02 a second process joins in mid-batch: totals are exact, and each partition has one writer at a time',
    async (t) => {
      const client = await foreignClient(t, brokers)
      const values = { ...(await onKafka(t, brokers)), partitions: PARTITIONS, domains: ['address-health'] }
      const topic = String(values.callOutcomeTopic)
      const start = (): RealProcess => spawnPulsefold(t, temporaryFolder(t), { values })
      const a = start()
      await a.ready
      const names = Array.from({ length: 8 }, (_, i) => `vm-${i}`)
      for (const name of names) await platformsOf(a).create(name, ADDRESSES, { detectInterval: 3_600_000 })
      /** A platform's outcomes go to both input partitions. */
      const send = (count: number): Promise<unknown> =>
        Promise.all(
          [0, 1].map((partition) => {
            const records = Array.from({ length: count }, (_, i) =>
              outcome(names[i % names.length] ?? '', ADDRESSES[i % ADDRESSES.length] ?? '', 'success'),
            )
            return client.append({ topic, partition }, records)
          }),
        )
      await send(BACKLOG)
      const b = start()
      let rounds = 0
      const hasMoved = async (): Promise<boolean> => {
        rounds++
        await send(40)
        return (await b.metric('pulsefold_task_state', 'state="LIVE"').catch(() => 0)) === 1
      }
      await b.listening()
      await until('a partition is live at the second process', hasMoved, MOVE_MS)
      const sent = PARTITIONS * (BACKLOG + 40 * rounds)
      const total = async (process: RealProcess): Promise<number> => {
        const all = await Promise.all(
          names.map((name) =>
            platformsOf(process)
              .addresses(name)
              .catch(() => []),
          ),
        )
        return all.flat().reduce((sum, { window }) => sum + window.calls, 0)
      }
      for (const process of [a, b]) {
        await until('all are counted', async () => (await total(process)) === sent, MOVE_MS)
        t.equal(await total(process), sent)
      }
      /** Epochs of the markers in the changelog, of each partition. */
      const epochs = async (): Promise<number[][]> => {
        const changelog = await a.records(`${values.applicationId}-address-health-changelog`)
        return Array.from({ length: PARTITIONS }, (_, partition) =>
          changelog.flatMap((record) =>
            record.partition === partition && record.key === CHANGELOG_MARKER ? [parseMarker(record.value!).epoch] : [],
          ),
        )
      }
      // The changelog follows the state that is answered by its own interval.
      const found = await until('one has had two owners', async () => {
        const all = await epochs()
        return all.some((some) => new Set(some).size > 1) && all
      })
      for (const some of found) {
        const inOrder = some.toSorted((x, y) => x - y)
        t.same(some, inOrder, 'nothing of a former owner comes after the first of the next')
      }
    },
  )
}
