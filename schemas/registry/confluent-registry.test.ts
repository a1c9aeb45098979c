import fc from 'fast-check'
import t from 'tap'
import type { Test } from 'tap'
import { manualClock } from '../../common/manual-clock.js'
import type { ManualClock } from '../../common/manual-clock.js'
import type { AvroRecordSchema } from '../avro.js'
import type { EventRecord } from '../cloudevents/cloud-event.js'
import { decodeHeartbeat } from '../trust-level/heartbeat.js'
import { deviceTrustLevelAvro } from '../trust-level/heartbeat-schema.js'
import { confluentRegistry } from './confluent-registry.js'
import { framed, registryDouble, varint } from './registry-double.js'
import type { RegistryDouble } from './registry-double.js'
import type { SchemaRegistry } from './schema-registry.js'

interface Given {
  readonly double: RegistryDouble
  readonly clock: ManualClock
  readonly registry: SchemaRegistry
}

async function given(t: Test): Promise<Given> {
  const double = await registryDouble()
  t.teardown(() => double.stop())
  const clock = manualClock()
  return { double, clock, registry: confluentRegistry(double.url, clock) }
}

function avroRecord(value: Buffer | string, contentType = 'application/avro'): EventRecord {
  const headers: Readonly<Record<string, string>> = {
    ce_specversion: '1.0',
    ce_id: 'dev-1',
    ce_type: 'any',
    ce_source: 'dmi-1',
    'content-type': contentType,
  }
  return {
    value: Buffer.from(value),
    headers: Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)] as const),
    timestamp: null,
  }
}

/** The level, or the code of the refusal or error. */
async function outcome(registry: SchemaRegistry, value: Buffer | string, contentType?: string): Promise<string> {
  try {
    const decoded = await decodeHeartbeat(avroRecord(value, contentType), registry)
    return decoded.kind === 'event' ? decoded.event.data.trustLevel : decoded.code
  } catch (error) {
    return `thrown ${(error as { code: string }).code}`
  }
}

const complete = { data: { trustLevel: 'COMPLETE' } }
const good = framed(1, deviceTrustLevelAvro, complete)

t.test('SC-01 a value without the leading zero byte is refused, and the good one after it applied', async (t) => {
  const { double, registry } = await given(t)
  double.register(1, deviceTrustLevelAvro)
  t.equal(await outcome(registry, '{"data":{"trustLevel":"NONE"}}'), 'NOT_SCHEMA_FRAMED')
  t.equal(await outcome(registry, Buffer.concat([Buffer.from([0x48]), good.subarray(1)])), 'NOT_SCHEMA_FRAMED')
  t.equal(await outcome(registry, Buffer.from([0, 0, 0, 1])), 'NOT_SCHEMA_FRAMED')
  t.equal(await outcome(registry, good), 'COMPLETE')
})

t.test('Avro is told by the content type, or without one by a first byte 0', async (t) => {
  const { double, registry } = await given(t)
  double.register(1, deviceTrustLevelAvro)
  const record = avroRecord(good)
  const without = { ...record, headers: record.headers.filter(([name]) => name !== 'content-type') }
  t.match(await decodeHeartbeat(without, registry), { event: { data: { trustLevel: 'COMPLETE' } } })
  t.equal(await outcome(registry, good, 'Application/Avro; a=b'), 'COMPLETE')
  t.equal(await outcome(registry, good, 'application/json'), 'MALFORMED_JSON')
  t.match(decodeHeartbeat(record), { code: 'NO_SCHEMA_REGISTRY' })
})

t.test('SC-03 an unknown schema id is asked for at most once in 10 s, and works once it is registered', async (t) => {
  const { double, clock, registry } = await given(t)
  double.register(1, deviceTrustLevelAvro)
  const unknown = framed(999999, deviceTrustLevelAvro, complete)
  const outcomes = await Promise.all(
    Array.from({ length: 10_000 }, (_, i) => outcome(registry, i % 2 === 0 ? unknown : good)),
  )
  t.same(new Set(outcomes.filter((_, i) => i % 2 === 0)), new Set(['UNKNOWN_SCHEMA_ID']))
  t.same(new Set(outcomes.filter((_, i) => i % 2 === 1)), new Set(['COMPLETE']))
  t.equal(double.requests.get(999999), 1)
  t.equal(double.requests.get(1), 1)

  double.register(999999, deviceTrustLevelAvro)
  await clock.advance(9_999)
  t.equal(await outcome(registry, unknown), 'UNKNOWN_SCHEMA_ID')
  t.equal(double.requests.get(999999), 1)
  clock.stepWall(3_600_000)
  t.equal(await outcome(registry, unknown), 'UNKNOWN_SCHEMA_ID', 'a step of the wall clock changes nothing')
  await clock.advance(1)
  t.equal(await outcome(registry, unknown), 'COMPLETE')
  t.equal(double.requests.get(999999), 2)
})

t.test('SC-04 a registry that is down refuses no record, and known ids go on working', async (t) => {
  const { double, registry } = await given(t)
  double.register(1, deviceTrustLevelAvro)
  await double.stop()
  t.equal(await outcome(registry, good), 'thrown REGISTRY_UNAVAILABLE')
  await double.start()
  t.equal(await outcome(registry, good), 'COMPLETE', 'at once after it is up')
  double.register(2, deviceTrustLevelAvro)
  await double.stop()
  t.equal(await outcome(registry, good), 'COMPLETE')
  t.equal(await outcome(registry, framed(2, deviceTrustLevelAvro, complete)), 'thrown REGISTRY_UNAVAILABLE')
  await double.start()
  t.equal(await outcome(registry, framed(2, deviceTrustLevelAvro, complete)), 'COMPLETE')
})

t.test('SC-04 whatever answers but a registry refuses no record either', async (t) => {
  const { double, registry } = await given(t)
  const table: readonly (readonly [status: number, body: string, outcome: string])[] = [
    [500, '{"error_code":50001,"message":"store"}', 'thrown REGISTRY_UNAVAILABLE'],
    [503, '', 'thrown REGISTRY_UNAVAILABLE'],
    [401, '{"error_code":40101,"message":"Unauthorized"}', 'thrown REGISTRY_UNAVAILABLE'],
    [429, '', 'thrown REGISTRY_UNAVAILABLE'],
    [404, '<html>default backend</html>', 'thrown REGISTRY_UNAVAILABLE'],
    [200, '<html>log in</html>', 'thrown REGISTRY_UNAVAILABLE'],
    [200, '{}', 'thrown REGISTRY_UNAVAILABLE'],
    [200, 'null', 'thrown REGISTRY_UNAVAILABLE'],
    [302, '', 'thrown REGISTRY_UNAVAILABLE'],
    [404, '', 'UNKNOWN_SCHEMA_ID'],
    [404, '{}', 'UNKNOWN_SCHEMA_ID'],
  ]
  for (const [i, [status, body, expected]] of table.entries()) {
    double.answer(i, status, body)
    t.equal(await outcome(registry, framed(i, deviceTrustLevelAvro, complete)), expected, `${status} ${body}`)
  }
})

t.test('schemas of other kinds, broken ones and ones that do not fit are refused', async (t) => {
  const { double, registry } = await given(t)
  double.register(1, { type: 'object' }, 'JSON')
  double.register(2, { type: 'no such type' })
  double.register(3, 'string')
  double.register(4, { type: 'record', name: 'Other', fields: [{ name: 'x', type: 'int' }] })
  double.register(5, trustLevelRecord('string'))
  for (const [id, expected] of [
    [1, 'UNSUPPORTED_SCHEMA'],
    [2, 'UNSUPPORTED_SCHEMA'],
    [3, 'INCOMPATIBLE_SCHEMA'],
    [4, 'INCOMPATIBLE_SCHEMA'],
    [5, 'INCOMPATIBLE_SCHEMA'],
  ] as const) {
    t.equal(await outcome(registry, framed(id, deviceTrustLevelAvro, complete)), expected)
    t.equal(double.requests.get(id), 1)
  }
})

/** A writer's schema, with fields around the level and names of its own. */
function trustLevelRecord(
  level: unknown,
  before: readonly object[] = [],
  after: readonly object[] = [],
): AvroRecordSchema {
  return {
    type: 'record',
    name: 'Beat',
    namespace: 'com.example',
    fields: [
      ...(before as AvroRecordSchema['fields']),
      {
        name: 'data',
        type: { type: 'record', name: 'Body', fields: [{ name: 'trustLevel', type: level }, ...after] },
      },
    ],
  }
}
const levels = { type: 'enum', name: 'Level', symbols: ['NONE', 'COMPLETE'] }

t.test('SC-06 writer schemas newer than ours are read by the rules of Avro', async (t) => {
  const { double, registry } = await given(t)
  const newer = { ...levels, symbols: ['PARTIAL', 'COMPLETE', 'NONE'], default: 'NONE' }
  const writers: readonly (readonly [schema: AvroRecordSchema, value: unknown, outcome: string])[] = [
    [deviceTrustLevelAvro, complete, 'COMPLETE'],
    [
      trustLevelRecord(levels, [], [{ name: 'since', type: 'long', default: 0 }]),
      { data: { trustLevel: 'COMPLETE', since: 7 } },
      'COMPLETE',
    ],
    [trustLevelRecord(newer), { data: { trustLevel: 'PARTIAL' } }, 'NONE'],
    [trustLevelRecord(newer), { data: { trustLevel: 'COMPLETE' } }, 'COMPLETE'],
    [
      trustLevelRecord(levels, [{ name: 'tags', type: { type: 'map', values: ['null', 'string'] } }]),
      { tags: { a: 'x', b: null }, data: { trustLevel: 'COMPLETE' } },
      'COMPLETE',
    ],
  ]
  for (const [id, [schema, value, expected]] of writers.entries()) {
    double.register(id, schema)
    t.equal(await outcome(registry, framed(id, schema, value)), expected, `writer ${id}`)
  }
})

t.test('SC-08 longs beyond 2^53 are exact, alone, in unions and from ints', async (t) => {
  const { double, registry } = await given(t)
  const timed = (type: unknown): AvroRecordSchema => ({
    type: 'record',
    name: 'Timed',
    fields: [
      { name: 'at', type },
      { name: 'level', type: 'string' },
    ],
  })
  const micros = { type: 'long', logicalType: 'timestamp-micros' }
  const body = Buffer.concat([varint(1710064800123456789n), Buffer.from('\u0004up')])
  const value = (id: number, bytes: Buffer): Buffer => Buffer.concat([Buffer.from([0, 0, 0, 0, id]), bytes])
  double.register(1, timed('long'))
  double.register(2, timed(micros))
  double.register(3, timed(['null', 'long']))
  double.register(4, timed('int'))
  t.same(await registry.decode(value(1, body), timed('long')), {
    ok: true,
    value: { at: 1710064800123456789n, level: 'up' },
  })
  t.match(await registry.decode(value(2, body), timed(micros)), { value: { at: 1710064800123456789n } })
  const branch = Buffer.concat([Buffer.from([2]), body])
  t.match(await registry.decode(value(3, branch), timed(['null', 'long'])), { value: { at: 1710064800123456789n } })
  const least = Buffer.concat([varint(-(2n ** 63n)), Buffer.from('\u0004up')])
  t.match(await registry.decode(value(1, least), timed('long')), { value: { at: -(2n ** 63n) } })
  t.match(await registry.decode(value(4, Buffer.from('0d047570', 'hex')), timed('long')), { value: { at: -7n } })

  const heartbeat = trustLevelRecord(levels, [{ name: 'at', type: micros }])
  double.register(5, heartbeat)
  const beat = Buffer.concat([varint(1710064800123456789n), Buffer.from([2])])
  t.equal(await outcome(registry, value(5, beat)), 'COMPLETE', 'skipped where the reader does not know it')
})

t.test('bodies that are not what their schema says are refused quickly', async (t) => {
  const { double, registry } = await given(t)
  const list = trustLevelRecord(levels, [{ name: 'list', type: { type: 'array', items: 'int' } }])
  const nothings = trustLevelRecord(levels, [{ name: 'list', type: { type: 'array', items: 'null' } }])
  double.register(1, deviceTrustLevelAvro)
  double.register(2, list)
  double.register(3, nothings)
  const value = (id: number, hex: string): Buffer =>
    Buffer.from(`00000000${id.toString(16).padStart(2, '0')}${hex}`, 'hex')
  for (const bad of [
    value(1, ''),
    value(1, '0200'),
    value(1, '04'),
    value(1, 'ff'),
    value(2, 'feffffff1f0002'),
    value(2, 'ffffffffffffffffffff01'),
    value(3, 'feffffff1f0002'),
    value(3, 'feffffffff3f0002'),
  ]) {
    t.equal(await outcome(registry, bad), 'AVRO_MALFORMED', bad.toString('hex'))
  }
  t.equal(await outcome(registry, value(2, '0402040002')), 'COMPLETE')
})

t.test('whatever the bytes behind a known schema id, the result is a level or a refusal', async (t) => {
  const { double, registry } = await given(t)
  const rich = trustLevelRecord(levels, [
    { name: 'list', type: { type: 'array', items: ['null', 'long', 'string'] } },
    { name: 'map', type: { type: 'map', values: 'bytes' } },
    { name: 'fixed', type: { type: 'fixed', name: 'Four', size: 4 } },
    { name: 'next', type: ['null', { type: 'array', items: 'double' }] },
  ])
  double.register(1, deviceTrustLevelAvro)
  double.register(2, rich)
  const head = (id: number): Buffer => Buffer.from([0, 0, 0, 0, id])
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 2 }), fc.uint8Array({ maxLength: 40 }), async (id, bytes) => {
      const result = await outcome(registry, Buffer.concat([head(id), bytes]))
      return ['NONE', 'COMPLETE', 'AVRO_MALFORMED'].includes(result)
    }),
    { seed: 6, numRuns: 2000 },
  )
})
