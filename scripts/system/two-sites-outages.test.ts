import t from 'tap'
import { framed, registryDouble } from '../../schemas/registry/registry-double.js'
import { deviceTrustLevelAvro } from '../../schemas/trust-level/heartbeat-schema.js'
import { foreignClient } from '../../topology/log/kafka/foreign-client.js'
import { heartbeat, onKafka, PLUGIN } from './fixtures.js'
import { ownBroker } from './own-broker.js'
import { names, TwoSites } from './two-sites.js'
import type { SiteName } from './two-sites.js'
import { until } from './until.js'

const patienceMs = 120_000

t.test(
  'FO-09 broker, registry and history source are down in turn: liveness stays 200, no process restarts, all recover',
  { timeout: 400_000 },
  async (t) => {
    const broker = await ownBroker(t)
    if (broker === undefined) return
    const registry = await registryDouble()
    t.teardown(() => registry.stop())
    const brokers = [`127.0.0.1:${broker.port}`]
    const kafka = { ...(await onKafka(t, brokers)), schemaRegistryUrl: registry.url }
    const { append } = await foreignClient(t, brokers)
    // The secondary has a log of its own, embedded: the sites need not be alike.
    const peers = { primary: 'pulsefold', secondary: kafka.applicationId ?? '' }
    const sites = await TwoSites.start(t, (name) => {
      return { sitePeerApplicationId: peers[name], ...(name === 'primary' && kafka) }
    })
    await sites.site('primary').register(PLUGIN, ['dev-1'])
    await sites.untilMirrored()
    const pids = new Map(names.map((name) => [name, sites.site(name).pid]))
    const status = async (name: SiteName, path: string): Promise<number> => (await sites.site(name).ask(path)).status
    const bothLive = async (when: string): Promise<void> => {
      for (const name of names) t.equal(await status(name, '/ops/health/live'), 200, `${name} lives: ${when}`)
    }

    await broker.stop('SIGKILL')
    await until(
      'the primary is not ready',
      async () => (await status('primary', '/ops/health/ready')) === 503,
      patienceMs,
    )
    await bothLive('no broker')
    await until('its health address says so', () => sites.healthIs('primary', 500), patienceMs)
    await until('the secondary takes over', () => sites.healthIs('secondary', 200), patienceMs)
    await until('steady', async () => (await sites.status('secondary')).phase === 'STEADY', patienceMs)
    t.equal(await sites.site('secondary').level('dev-1'), 'COMPLETE')
    await broker.start()
    await until('it is ready again', async () => (await status('primary', '/ops/health/ready')) === 200, patienceMs)
    await until('and has heard', async () => (await sites.status('primary')).active === 'secondary', patienceMs)
    t.equal(await sites.health('primary'), 500)
    await sites.untilSaid('failback', 'primary', 'failbacked')

    await registry.stop()
    registry.register(1, deviceTrustLevelAvro)
    const value = framed(1, deviceTrustLevelAvro, { data: { trustLevel: 'NONE' } })
    const record = heartbeat('dev-1', '', { value, headers: { 'content-type': 'application/avro' } })
    await append({ topic: String(kafka.heartbeatTopic), partition: 0 }, [record])
    const ready = await until('readiness tells of the registry', async () => {
      const answer = await sites.site('primary').ask('/ops/health/ready')
      return answer.status === 503 && answer
    })
    t.match(ready.text, 'the registry did not answer')
    await bothLive('no registry')
    await registry.start()
    await until('ready again', async () => (await status('primary', '/ops/health/ready')) === 200, patienceMs)
    await until(
      'the primary is well',
      async () => sites.healthIs((await sites.status('primary')).active, 200),
      patienceMs,
    )

    sites.ways.primary.set('stall')
    await bothLive('no history source')
    for (const name of names) t.equal(await status(name, '/ops/health/ready'), 200, `${name} is ready`)
    sites.ways.primary.set('refuse')
    sites.ways.primary.set('pass')
    await until('the mirror goes on', async () => ((await sites.mirrorLagMs('secondary')) ?? 99_999) < 5000, patienceMs)
    await bothLive('all is back')
    for (const name of names) t.equal(sites.site(name).pid, pids.get(name), 'the same process')
    const processes = names.map((name) => sites.site(name))
    for (const process of processes) process.kill('SIGTERM')
    for (const { ended } of processes) t.equal((await ended).code, 0, 'it ended only now')
  },
)
