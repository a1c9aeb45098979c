import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { NewRecord } from '../../topology/log/log.js'
import { foreignClient } from '../../topology/log/kafka/foreign-client.js'
import { realBrokers } from '../../topology/log/kafka/real-brokers.js'
import { onKafka, temporaryFolder } from './fixtures.js'
import { spawnPulsefold } from './real-process.js'
import type { RealProcess } from './real-process.js'
import { until } from './until.js'

const brokers = realBrokers(t)
const PATIENCE_MS = 60_000
const INSTANCES = ['e2t-0', 'e2t-1', 'e2t-2']

/** A message as a bridge to RMR writes it. */
function message(mtype: number, source: string, data: object, meid = ''): NewRecord {
  const headers = Object.entries({ mtype: String(mtype), src: source, meid, id: randomUUID() })
  return {
    key: Buffer.from('AACCE'),
    value: Buffer.from(JSON.stringify(data)),
    headers: headers.map(([name, value]) => [name, Buffer.from(value)]),
  }
}

const list = async (process: RealProcess): Promise<readonly string[]> => {
  const instances = await process.json<readonly { e2tAddress: string }[]>('/v1/e2t/list')
  return instances.map(({ e2tAddress }) => e2tAddress).sort()
}

if (brokers.length > 0) {
  t.test(
    'HS-02 on Kafka: while their owner is killed and moves, E2T instances live that answer, and one dies',
    async (t) => {
      const client = await foreignClient(t, brokers)
      const values = { ...(await onKafka(t, brokers)), partitions: 2 }
      const topic = values.e2tMessagesTopic ?? ''
      const running = [0, 1].map(() => spawnPulsefold(t, temporaryFolder(t), { values }))
      for (const process of running) await process.ready
      const [first, second] = running as [RealProcess, RealProcess]
      const answering = new Set(INSTANCES)
      const done = new AbortController()
      const answers = (async () => {
        while (!done.signal.aborted) {
          const records = [...answering].map((address) => message(1102, address, { address }))
          await client.append({ topic, partition: 0 }, records)
          await new Promise((resolve) => setTimeout(resolve, 250))
        }
      })()
      const inits = INSTANCES.map((address) => message(1100, address, { address, fqdn: '', pod_name: '' }))
      await client.append({ topic, partition: 1 }, inits)
      await until('all are listed', async () => (await list(first)).length === 3, PATIENCE_MS)
      const setups = INSTANCES.map((e2tAddress, i) => {
        const globalNbId = { plmnId: '02F829', nbId: String(i) }
        return message(12001, e2tAddress, { e2tAddress, globalNbId, nodeType: 'GNB' }, `ran-${i}`)
      })
      await client.append({ topic, partition: 0 }, setups)
      const isConnected = async (): Promise<boolean> => {
        const states = await second.json<readonly { connectionStatus?: string }[]>('/v1/nodeb/states')
        return states.length === 3 && states.every(({ connectionStatus }) => connectionStatus === 'CONNECTED')
      }
      await until('all RANs are connected', isConnected, PATIENCE_MS)

      first.kill('SIGKILL')
      await first.ended
      const isAnswered = async (): Promise<boolean> => (await second.ask('/v1/e2t/list')).status === 200
      await until('the other one has taken over', isAnswered, PATIENCE_MS)
      t.strictSame(await list(second), INSTANCES)
      answering.delete('e2t-1')
      await until('who is silent is gone', async () => !(await list(second)).includes('e2t-1'), PATIENCE_MS)
      t.strictSame(await list(second), ['e2t-0', 'e2t-2'])
      const states =
        await second.json<readonly { inventoryName: string; connectionStatus: string }[]>('/v1/nodeb/states')
      t.strictSame(
        states.map(({ connectionStatus }) => connectionStatus),
        ['CONNECTED', 'DISCONNECTED', 'CONNECTED'],
      )
      done.abort()
      await answers
    },
  )
}
