import { spawnSync } from 'node:child_process'
import t from 'tap'
import { foreignClient } from '../../topology/log/kafka/foreign-client.js'
import { realBrokers } from '../../topology/log/kafka/real-brokers.js'
import { heartbeat, onKafka, PLUGIN, temporaryFolder } from './fixtures.js'
import { spawnPulsefold } from './real-process.js'
import type { RealProcess } from './real-process.js'
import { until } from './until.js'

const brokers = realBrokers(t)
const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0
const patienceMs = 60_000
const ids = Array.from({ length: 300 }, (_, i) => `dev-${i}`)

/** A limit on the size of files stands for the full disk; lifting it, for the space made free. */
function limitFiles({ pid }: RealProcess, bytes: number | 'unlimited'): void {
  const { status, stderr } = spawnSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`])
  if (status !== 0) throw new Error(`prlimit: ${stderr.toString()}`)
}

t.test(
  'RS-11 the health address is at 500 while the disk is full, at 200 when it is not, and nothing restarts',
  { skip: !hasPrlimit && 'there is no prlimit' },
  async (t) => {
    const running = spawnPulsefold(t, temporaryFolder(t), { values: { siteHealthIntervalMs: 200 }, log: 'pipe' })
    await running.ready
    const healthIs = async (wanted: number): Promise<boolean> =>
      (await running.ask('/notification/healthCheck')).status === wanted
    await until('well', () => healthIs(200), patienceMs)
    limitFiles(running, 1)
    await until('at 500', () => healthIs(500), patienceMs)
    t.equal((await running.ask('/ops/health/live')).status, 200)
    limitFiles(running, 'unlimited')
    await until('well again', () => healthIs(200), patienceMs)
    t.equal((await running.ask('/ops/health/live')).status, 200)
  },
)

if (brokers.length > 0) {
  t.test(
    'RS-11 a disk that is full, then freed: not ready, answers go on, nothing is committed past what is stored',
    { skip: !hasPrlimit && 'there is no prlimit' },
    async (t) => {
      const values = await onKafka(t, brokers)
      const { append } = await foreignClient(t, brokers)
      const folder = temporaryFolder(t)
      const running = spawnPulsefold(t, folder, { values, log: 'pipe' })
      await running.ready
      await running.register(PLUGIN, ids)
      const send = (level: 'NONE' | 'COMPLETE'): Promise<void> =>
        append(
          { topic: String(values.heartbeatTopic), partition: 0 },
          ids.map((id) => heartbeat(id, level)),
        )
      const allAre = (process: RealProcess, level: 'NONE' | 'COMPLETE') => (): Promise<boolean> =>
        process.searchLevel(level).then(
          (found) => found.length === ids.length,
          () => false,
        )
      const isReady = async (): Promise<boolean> => (await running.ask('/ops/health/ready')).status === 200
      await until('all is committed', async () => (await running.metric('pulsefold_changelog_lag_records')) === 0)

      limitFiles(running, 1)
      const turn = async (level: 'NONE' | 'COMPLETE'): Promise<void> => {
        await send(level)
        await until(`all are ${level}`, allAre(running, level), patienceMs)
      }
      await turn('NONE')
      const reasons = async (): Promise<string> => (await running.ask('/ops/health/ready')).text
      for (const task of [0, 1, 2]) {
        await until('not ready, with the reason', async () => (await reasons()).includes(`task trust-level/${task}: `))
      }
      const commits = (): Promise<number> => running.metric('pulsefold_commits_total', '"trust-level"')
      const before = await commits()
      await turn('COMPLETE')
      await turn('NONE')
      t.equal(await commits(), before, 'nothing is committed past what is stored')

      limitFiles(running, 'unlimited')
      await until('ready again', isReady, patienceMs)
      await until('all is committed', async () => (await running.metric('pulsefold_changelog_lag_records')) === 0)
      running.kill('SIGKILL')
      await running.ended
      const again = spawnPulsefold(t, folder, { values })
      await again.ready
      await until('all are NONE', allAre(again, 'NONE'), patienceMs)
      const changes = async (): Promise<readonly string[]> => {
        const told = await again.records(String(values.trustLevelNoticeTopic))
        return told.map(({ value }) => String(value)).filter((text) => text.includes('oldAttributeValue'))
      }
      await until('all changes are told', async () => (await changes()).length >= 3 * ids.length)
      t.equal((await changes()).length, 3 * ids.length, 'each once')
    },
  )
}
