import t from 'tap'
import { foreignClient } from '../../topology/log/kafka/foreign-client.js'
import { heartbeat, onKafka, PLUGIN, temporaryFolder } from './fixtures.js'
import { ownBroker } from './own-broker.js'
import { spawnPulsefold } from './real-process.js'
import { until } from './until.js'

const patienceMs = 90_000

t.test('RB-07 FO-09 a broker that stops, or is killed, and comes back', { timeout: 300_000 }, async (t) => {
  const broker = await ownBroker(t)
  if (broker === undefined) return
  const brokers = [`127.0.0.1:${broker.port}`]
  const { append } = await foreignClient(t, brokers)
  const values = await onKafka(t, brokers)
  const at = { topic: String(values.heartbeatTopic), partition: 0 }
  const running = spawnPulsefold(t, temporaryFolder(t), { values })
  await running.ready
  await running.register(PLUGIN, ['dev-1'])
  const status = async (path: string): Promise<number> => (await running.ask(path)).status
  let level = 'COMPLETE'
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    await broker.stop(signal)
    await until('not ready', async () => (await status('/ops/health/ready')) === 503, patienceMs)
    t.match((await running.ask('/ops/health/ready')).text, '"ready":false')
    t.equal(await status('/ops/health/live'), 200, 'it lives')
    t.equal(await running.level('dev-1'), level, 'and answers what it knows')
    await broker.start()
    await until('ready again', async () => (await status('/ops/health/ready')) === 200, patienceMs)
    level = level === 'NONE' ? 'COMPLETE' : 'NONE'
    await until('a producer gets through', () =>
      append(at, [heartbeat('dev-1', level)]).then(
        () => true,
        () => false,
      ),
    )
    await until('the record is applied', async () => (await running.level('dev-1')) === level, patienceMs)
  }
  running.kill('SIGTERM')
  t.equal((await running.ended).code, 0)
})
