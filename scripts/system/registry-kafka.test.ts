import t from 'tap'
import type { Test } from 'tap'
import type { AvroRecordSchema } from '../../schemas/avro.js'
import { registrar } from '../../schemas/registry/registrar.js'
import { framed, varint } from '../../schemas/registry/registry-double.js'
import { callOutcomeAvro } from '../../schemas/address-health/call-outcome-schema.js'
import { deviceTrustLevelAvro } from '../../schemas/trust-level/heartbeat-schema.js'
import { foreignClient } from '../../topology/log/kafka/foreign-client.js'
import { realBrokers } from '../../topology/log/kafka/real-brokers.js'
import type { NewRecord } from '../../topology/log/log.js'
import { heartbeat, onKafka, PLUGIN, startSystem } from './fixtures.js'
import { outcome, platformsOf } from './outcomes.js'
import { tcpProxy } from './tcp-proxy.js'
import type { TcpProxy } from './tcp-proxy.js'
import { until } from './until.js'

const brokers = realBrokers(t)
const { PULSEFOLD_SCHEMA_REGISTRY_URL: registryUrl = '' } = process.env
const skip = (brokers.length === 0 || registryUrl === '') && 'no broker or no registry: see ./scripts/services'
const headers = { 'content-type': 'application/avro' }

const avro = (cmHandle: string, value: Buffer): NewRecord => heartbeat(cmHandle, '', { value, headers })
const register = (subject: string, schema: unknown): Promise<number> =>
  registrar(registryUrl).register({ subject, format: 'AVRO', schema, direction: 'read' })

/** The real registry, behind what may fail. */
async function behindProxy(t: Test): Promise<TcpProxy & { readonly registry: string }> {
  const { port, pathname } = new URL(registryUrl)
  const proxy = await tcpProxy(t)
  proxy.targets = [Number(port)]
  return { ...proxy, registry: `http://127.0.0.1:${proxy.port}${pathname}` }
}

/** A heartbeat's schema of another version: a level of other words, fields before and behind it. */
function version(level: object, before: readonly object[] = [], behind: readonly object[] = []): AvroRecordSchema {
  const data = { type: 'record', name: 'Data', fields: [{ name: 'trustLevel', type: level }, ...behind] }
  const fields = [...before, { name: 'data', type: data }] as AvroRecordSchema['fields']
  return { ...deviceTrustLevelAvro, fields }
}
const levels = { type: 'enum', name: 'TrustLevel', symbols: ['NONE', 'COMPLETE'] }

t.test(
  'SC-04 the registry is down at the start, and when a new schema comes: nothing is refused',
  { skip },
  async (t) => {
    const proxy = await behindProxy(t)
    const values = await onKafka(t, brokers)
    const topic = String(values.heartbeatTopic)
    const { admin, createTopic, append } = await foreignClient(t, brokers)
    await createTopic(topic, 3)
    const known = await register(`${topic}-value`, deviceTrustLevelAvro)
    const later = version(levels, [], [{ name: 'since', type: 'long', default: 0 }])
    const unseen = await register(`${topic}-value`, later)
    const ids = Array.from({ length: 100 }, (_, i) => `dev-${i}`)
    const none = framed(known, deviceTrustLevelAvro, { data: { trustLevel: 'NONE' } })
    const system = await startSystem(t, { ...values, schemaRegistryUrl: proxy.registry })
    await system.register(PLUGIN, ids)
    await system.stop()
    proxy.set('refuse')
    await append(
      { topic, partition: 0 },
      ids.map((id) => avro(id, none)),
    )
    await system.startUnready()
    const blocked = async (): Promise<boolean> => {
      const { status, text } = await system.ask('/ops/health/ready')
      return status === 503 && text.includes('the registry did not answer')
    }
    const members = async (): Promise<readonly string[]> => {
      const { groups } = await admin.describeGroups([String(values.applicationId)])
      return groups[0]?.members.map(({ memberId }) => memberId) ?? []
    }
    await until('not ready, with the reason', blocked)
    const before = await members()
    t.equal(before.length, 1)
    await until('none is applied', async () => (await system.searchLevel('COMPLETE')).length === 100)
    proxy.set('pass')
    await until('all are applied', async () => (await system.searchLevel('NONE')).length === 100)
    await until('ready', async () => (await system.ask('/ops/health/ready')).status === 200)

    proxy.set('refuse')
    const complete = framed(known, deviceTrustLevelAvro, { data: { trustLevel: 'COMPLETE' } })
    await append({ topic, partition: 1 }, [avro('dev-1', complete)])
    t.ok(await system.levelIs('dev-1', 'COMPLETE'), 'what is known goes on working')
    await append({ topic, partition: 2 }, [
      avro('dev-2', framed(unseen, later, { data: { trustLevel: 'COMPLETE', since: 1 } })),
    ])
    await until('not ready again', blocked)
    proxy.set('pass')
    t.ok(await system.levelIs('dev-2', 'COMPLETE'))
    t.same(await system.deadLetters(), [])
    t.same(await members(), before, 'it was a member all the while')
  },
)

t.test('SC-06 SC-08 writers with other schemas than ours, and longs beyond 2^53', { skip }, async (t) => {
  const values = { ...(await onKafka(t, brokers)), schemaRegistryUrl: registryUrl }
  const topic = String(values.heartbeatTopic)
  const outcomes = String(values.callOutcomeTopic)
  const system = await startSystem(t, values)
  const more = { ...levels, symbols: ['PARTIAL', 'NONE', 'COMPLETE'], default: 'NONE' }
  const instant = { name: 'at', type: { type: 'long', logicalType: 'timestamp-micros' } }
  const writers: readonly (readonly [schema: AvroRecordSchema, value: object, level: 'NONE' | 'COMPLETE'])[] = [
    [deviceTrustLevelAvro, { data: { trustLevel: 'NONE' } }, 'NONE'],
    [
      version(levels, [], [{ name: 'since', type: 'long', default: 0 }]),
      { data: { trustLevel: 'NONE', since: 7 } },
      'NONE',
    ],
    [version(more), { data: { trustLevel: 'PARTIAL' } }, 'NONE'],
    [version(more), { data: { trustLevel: 'COMPLETE' } }, 'COMPLETE'],
    [version(levels, [{ name: 'note', type: 'string' }]), { note: 'COMPLETE', data: { trustLevel: 'NONE' } }, 'NONE'],
  ]
  const ids = writers.map((_, i) => `dev-${i}`)
  await system.register(PLUGIN, [...ids, 'dev-timed', 'dev-last'])
  for (const [i, [schema, value]] of writers.entries()) {
    const id = await register(`${topic}-${i}`, schema)
    await system.append([avro(`dev-${i}`, framed(id, schema, value))])
  }
  const timed = await register(`${topic}-timed`, version(levels, [instant]))
  const head = framed(timed, 'null', null)
  await system.append([avro('dev-timed', Buffer.concat([head, varint(1710064800123456789n), varint(0n)]))])
  const last = await register(`${topic}-value`, deviceTrustLevelAvro)
  await platformsOf(system).create('vm', ['a1'])
  await system.append([avro('dev-last', framed(last, deviceTrustLevelAvro, { data: { trustLevel: 'NONE' } }))])
  for (const id of ['dev-timed', 'dev-last']) t.ok(await system.levelIs(id, 'NONE'), id)
  await system.settled()
  for (const [i, [, , level]] of writers.entries()) t.equal(await system.level(`dev-${i}`), level, `writer ${i}`)

  const text = (value: string): Buffer => Buffer.concat([varint(BigInt(value.length)), Buffer.from(value)])
  const outcomeId = await register(`${outcomes}-value`, callOutcomeAvro)
  // Platform, address, success, no cause, a call id that is a long, no attempt.
  const fields = [text('vm'), text('a1'), varint(0n), varint(0n), varint(1n), varint(9007199254740993n), varint(0n)]
  const usual = outcome('vm', 'a1', 'success')
  const { append } = await foreignClient(t, brokers)
  await append({ topic: outcomes, partition: 0 }, [
    {
      ...usual,
      value: Buffer.concat([framed(outcomeId, 'null', null), ...fields]),
      headers: [
        ...(usual.headers ?? []).filter(([name]) => name !== 'content-type'),
        ['content-type', Buffer.from('application/avro')],
      ],
    },
  ])
  const journal = `${values.applicationId}-address-health-journal`
  await until('the outcome is in the journal, to the digit', async () => {
    const texts = await Promise.all(
      [0, 1, 2].map((partition) => system.ask(`/ops/topics/${journal}/records?partition=${partition}`)),
    )
    return texts.some(({ text }) => text.includes('9007199254740993'))
  })
  t.same(await system.deadLetters(), [])
})
