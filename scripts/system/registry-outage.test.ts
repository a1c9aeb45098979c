import t from 'tap'
import { framed, registryDouble } from '../../schemas/registry/registry-double.js'
import { deviceTrustLevelAvro } from '../../schemas/trust-level/heartbeat-schema.js'
import { heartbeat, PLUGIN, startSystem } from './fixtures.js'
import { until } from './until.js'

t.test('SC-04 FO-09 a registry that is down: not ready, with the reason, and nothing is refused', async (t) => {
  const registry = await registryDouble()
  t.teardown(() => registry.stop())
  const system = await startSystem(t, { schemaRegistryUrl: registry.url })
  await system.register(PLUGIN, ['dev-1', 'dev-2'])
  const headers = { 'content-type': 'application/avro' }
  const avro = (id: number): Buffer => framed(id, deviceTrustLevelAvro, { data: { trustLevel: 'NONE' } })

  for (const [id, cmHandle] of [
    [1, 'dev-1'],
    [2, 'dev-2'],
  ] as const) {
    await registry.stop()
    registry.register(id, deviceTrustLevelAvro)
    await system.append([heartbeat(cmHandle, '', { value: avro(id), headers })])
    const ready = await until('readiness tells of it', async () => {
      const answer = await system.ask('/ops/health/ready')
      return answer.status === 503 && answer
    })
    t.match(ready.text, 'the registry did not answer')
    t.equal((await system.ask('/ops/health/live')).status, 200)
    t.equal(await system.level(cmHandle), 'COMPLETE')

    const posted = await system.ask('/events', {
      body: avro(id),
      headers: {
        ...headers,
        'ce-specversion': '1.0',
        'ce-id': cmHandle,
        'ce-source': 'test',
        'ce-type': 'org.onap.cps.ncmp.events.trustlevel.DeviceTrustLevel',
      },
    })
    t.match([posted.status, posted.text], [503, 'UNAVAILABLE'])
    t.ok(posted.headers['retry-after'])

    await registry.start()
    t.ok(await system.levelIs(cmHandle, 'NONE'))
    await until('it is ready', async () => (await system.ask('/ops/health/ready')).status === 200)
  }
  t.same(await system.deadLetters(), [])
})
