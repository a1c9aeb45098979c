import t from 'tap'
import { framed, registryDouble } from '../../schemas/registry/registry-double.js'
import { deviceTrustLevelAvro } from '../../schemas/trust-level/heartbeat-schema.js'
import { heartbeat, PLUGIN, startSystem } from './fixtures.js'
import { until } from './until.js'

const avro = (trustLevel: string): Buffer => framed(1, deviceTrustLevelAvro, { data: { trustLevel } })
const AVRO = { 'content-type': 'application/avro' }
const attributes = {
  'ce-specversion': '1.0',
  'ce-id': 'dev-2',
  'ce-source': 'test',
  'ce-type': 'org.onap.cps.ncmp.events.trustlevel.DeviceTrustLevel',
}

t.test('with a schema registry, heartbeats in Avro are taken from the topic and over HTTP', async (t) => {
  const registry = await registryDouble()
  t.teardown(() => registry.stop())
  registry.register(1, deviceTrustLevelAvro)
  const system = await startSystem(t, { schemaRegistryUrl: registry.url })
  await system.register(PLUGIN, ['dev-1', 'dev-2', 'dev-3'])
  await system.append([
    heartbeat('dev-1', '', { value: avro('NONE'), headers: AVRO }),
    heartbeat('dev-3', '', { value: avro('NONE'), headers: { 'content-type': undefined } }),
  ])
  t.ok(await system.levelIs('dev-1', 'NONE'))
  t.ok(await system.levelIs('dev-3', 'NONE'), 'told by its first byte')
  const { status } = await system.ask('/events', { body: avro('NONE'), headers: { ...attributes, ...AVRO } })
  t.equal(status, 202)
  t.ok(await system.levelIs('dev-2', 'NONE'))
})

t.test('without one, Avro is 415 over HTTP and a dead letter from the topic', async (t) => {
  const system = await startSystem(t)
  await system.register(PLUGIN, ['dev-1', 'dev-2'])
  const { status, text } = await system.ask('/events', { body: avro('NONE'), headers: { ...attributes, ...AVRO } })
  t.equal(status, 415)
  t.match(JSON.parse(text), { status: 415, errors: [{ index: 0, code: 'NO_SCHEMA_REGISTRY' }] })
  await system.append([heartbeat('dev-1', '', { value: avro('NONE'), headers: AVRO }), heartbeat('dev-2', 'NONE')])
  t.ok(await system.levelIs('dev-2', 'NONE'), 'the next record is taken')
  const [letter] = await until('the dead letter', async () => {
    const letters = await system.deadLetters()
    return letters.length > 0 && letters
  })
  t.equal(letter?.headers['__streams.errors.exception'], 'NO_SCHEMA_REGISTRY')
  t.equal(await system.level('dev-1'), 'COMPLETE')
})
