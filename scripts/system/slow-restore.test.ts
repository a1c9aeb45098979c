import { rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { foreignClient } from '../../topology/log/kafka/foreign-client.js'
import { heartbeat, onKafka, PLUGIN, temporaryFolder } from './fixtures.js'
import { clientOf } from './http-client.js'
import { ownBroker } from './own-broker.js'
import { spawnPulsefold } from './real-process.js'
import { tcpProxy } from './tcp-proxy.js'
import { until } from './until.js'

const SESSION_MS = 6000
const patienceMs = 120_000
const DEVICES = 4000

interface Restore {
  readonly partition: number
  readonly doneRecords: number
  readonly totalRecords: number
}

// Some 2 MB of changelog at 100 kB/s take 20 s at least, however fast the machine is.
t.test(
  'RB-04 RS-17 a restore that outlasts the session: one assignment, one restore',
  { timeout: 300_000 },
  async (t) => {
    const proxy = await tcpProxy(t)
    const broker = await ownBroker(t, {
      properties: () => `advertised.listeners=PLAINTEXT://127.0.0.1:${proxy.port}`,
    })
    if (broker === undefined) return
    proxy.targets = [broker.port]
    const brokers = [`127.0.0.1:${proxy.port}`]
    const { admin, append } = await foreignClient(t, brokers)
    const values = {
      ...(await onKafka(t, brokers)),
      ...{ domains: ['trust-level'] as const, kafkaSessionTimeoutMs: SESSION_MS, trustLevelNotices: false },
    }
    const folder = temporaryFolder(t)
    const before = spawnPulsefold(t, folder, { values })
    await before.ready
    const publicCmHandleProperties = { padding: 'x'.repeat(500) }
    await before.register(
      PLUGIN,
      Array.from({ length: DEVICES }, (_, i) => ({ cmHandle: `dev-${i}`, publicCmHandleProperties })),
    )
    before.kill('SIGTERM')
    t.equal((await before.ended).code, 0)
    rmSync(join(folder, 'data', 'stores'), { recursive: true })

    proxy.set('throttle')
    const restoring = spawnPulsefold(t, folder, { values })
    const url = await restoring.listening()
    const client = clientOf(() => url)
    t.teardown(() => client.close())
    const memberIds = new Set<string>()
    /** Records done, by partition. */
    const reached = new Map<number, number>()
    const faults: string[] = []
    const look = async (): Promise<boolean> => {
      const { groups } = await admin.describeGroups([values.applicationId ?? ''])
      for (const { memberId } of groups[0]?.members ?? []) memberIds.add(memberId)
      const { status, text } = await client.ask('/ops/health/ready')
      const { restoring: tasks } = JSON.parse(text) as { readonly restoring: readonly Restore[] }
      for (const { partition, doneRecords, totalRecords } of tasks) {
        const least = reached.get(partition) ?? 0
        if (doneRecords < least || totalRecords < doneRecords)
          faults.push(`${least}: ${doneRecords} of ${totalRecords}`)
        reached.set(partition, doneRecords)
      }
      if (status === 200 && tasks.length > 0) faults.push(`ready with ${tasks.length} restores`)
      return status === 200
    }
    await until('it restores', async () => !(await look()) && reached.size > 0, patienceMs)
    await append({ topic: String(values.heartbeatTopic), partition: 0 }, [heartbeat('dev-1', 'NONE')])
    const startedAt = performance.now()
    await until('longer than a session', async () => {
      if (await look()) throw new Error('it was ready before its changelog can have been read')
      return performance.now() - startedAt > 1.5 * SESSION_MS
    })
    t.equal(await client.level('dev-1'), 503)
    t.equal(await client.metric('pulsefold_ingested_records_total'), 0, 'no input is taken yet')
    proxy.set('pass')
    await until('ready', look, patienceMs)
    t.ok(await client.levelIs('dev-1', 'NONE', patienceMs))
    t.equal((await client.searchLevel('COMPLETE')).length, DEVICES - 1)
    t.equal(memberIds.size, 1, 'it was a member all the while')
    t.same(faults, [], 'what is done neither falls nor exceeds what there is')
    restoring.kill('SIGTERM')
    const { code, log } = await restoring.ended
    t.equal(code, 0)
    const restores = log.filter((line) => line.includes('"msg":"task state"') && line.includes('"state":"RESTORING"'))
    t.equal(restores.length, 3, 'one for each task')
  },
)
