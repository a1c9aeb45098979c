import { PassThrough } from 'node:stream'
import t from 'tap'
import type { LightMyRequestResponse } from 'fastify'
import { LogError } from '../../topology/log/errors.js'
import type { Decoded, Input, InputRecord, Processor } from '../../topology/processor.js'
import { unheardRejections } from '../../topology/test-kit.js'
import { testApi } from '../test-api.js'
import type { TestApi } from '../test-api.js'
import { bytesInFlight } from './bytes-in-flight.js'

/** A domain whose events must say {"ok":true}; keyed by the source. */
function domain(name: string, topic: string, types: readonly string[]): Processor {
  const decode = (record: InputRecord): Decoded | Promise<Decoded> => {
    const text = record.value?.toString('utf8') ?? ''
    if (text.includes('skip')) return { kind: 'skipped', reason: 'of no use' }
    if (text.includes('avro')) return { kind: 'rejected', code: 'NO_SCHEMA_REGISTRY', message: 'no registry' }
    if (!text.includes('"ok":true'))
      return { kind: 'rejected', code: 'NOT_OK', message: 'it is not ok', field: 'data.ok' }
    const id = record.headers.find(([header]) => header === 'ce_id')?.[1].toString() ?? 'structured'
    return Promise.resolve({
      kind: 'event',
      key: id,
      event: { type: 'Reported', data: { text, at: record.timestamp } },
    })
  }
  const inputs: readonly Input[] = [{ topic, types, decode }]
  return { name, inputs, outputs: [], queries: [], tables: [] } as unknown as Processor
}

const processors = [
  domain('trust-level', 'dmi-device-heartbeat', ['org.onap.trust', 'org.onap.other-trust']),
  domain('keep-alive', 'ka', ['org.oran.e2.*']),
]

const binary = (type: string, id = 'dev-1'): Record<string, string> => ({
  'content-type': 'application/json',
  'ce-specversion': '1.0',
  'ce-id': id,
  'ce-source': 'dmi',
  'ce-type': type,
})
const envelope = (type: string, ok: unknown = true, id = 'dev-1'): object => ({
  specversion: '1.0',
  id,
  source: 'dmi',
  type,
  data: { ok },
})

async function post(
  api: TestApi,
  payload: unknown,
  headers: Record<string, string>,
  query = '',
): Promise<LightMyRequestResponse> {
  const body = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload : JSON.stringify(payload)
  return api.server.app.inject({ method: 'POST', url: `/events${query}`, payload: body, headers })
}
const structured = { 'content-type': 'application/cloudevents+json; charset=utf-8' }
const batch = { 'content-type': 'application/cloudevents-batch+json' }

t.test('an event in binary, structured or batch mode is taken, with its journal position', async (t) => {
  const api = await testApi(t, { processors })
  const cases: readonly (readonly [payload: unknown, headers: Record<string, string>])[] = [
    ['{"ok":true}', binary('org.onap.trust')],
    [envelope('org.onap.other-trust'), structured],
    [[envelope('org.onap.trust')], batch],
  ]
  for (const [payload, headers] of cases) {
    const answer = await post(api, payload, headers)
    t.equal(answer.statusCode, 202, answer.body)
    const { accepted, positions } = answer.json<{ accepted: number; positions: { topic: string }[] }>()
    t.equal(accepted, 1)
    t.match(positions, [{ topic: 'test-trust-level-journal', partition: Number, offset: Number }])
    t.match(answer.headers['x-pulsefold-position'], /^test-trust-level-journal\/\d\/\d+$/)
  }
  t.strictSame(
    api.streams.ingested.map(({ domain, events }) => [domain, events.map(({ key }) => key)]),
    [
      ['trust-level', ['dev-1']],
      ['trust-level', ['structured']],
      ['trust-level', ['structured']],
    ],
  )
  const original = api.streams.ingested[0]?.events[0]?.original
  t.equal(original?.value?.toString(), '{"ok":true}')
  t.strictSame(original?.headers.map(([name]) => name).sort(), [
    'ce_id',
    'ce_source',
    'ce_specversion',
    'ce_type',
    'content-type',
  ])
})

t.test('a batch goes to the domains of its types, positions in its order', async (t) => {
  const api = await testApi(t, { processors })
  const events = ['org.onap.trust', 'org.oran.e2.keep-alive', 'org.onap.trust', 'org.oran.e2.'].map((type) =>
    envelope(type),
  )
  const answer = await post(api, events, batch)
  t.equal(answer.statusCode, 202, answer.body)
  const { positions } = answer.json<{ positions: { offset: number }[] }>()
  t.strictSame(
    api.streams.ingested.map(({ domain, events: taken }) => [domain, taken.length]),
    [
      ['trust-level', 2],
      ['keep-alive', 2],
    ],
  )
  const [first, second, third, fourth] = positions.map(({ offset }) => offset)
  t.ok(Number(first) < Number(third) && Number(third) < Number(second) && Number(second) < Number(fourth))
  t.strictSame((await post(api, [], batch)).json(), { accepted: 0, positions: [] })
})

t.test('of a batch with faults nothing is taken, and all faults are told', async (t) => {
  const api = await testApi(t, { processors })
  const events = [
    envelope('org.onap.trust'),
    envelope('org.onap.trust', false),
    { ...envelope('org.onap.trust'), id: undefined },
    envelope('com.example.unknown'),
    'no envelope',
    envelope('org.onap.trust', 'skip'),
  ]
  const answer = await post(api, events, batch)
  t.equal(answer.statusCode, 400)
  const { code, errors } = answer.json<{ code: string; errors: { index: number; code: string; field: string }[] }>()
  t.equal(code, 'EVENTS_REJECTED')
  t.strictSame(
    errors.map((fault) => [fault.index, fault.code, fault.field]),
    [
      [1, 'NOT_OK', 'data.ok'],
      [2, 'MISSING_ATTRIBUTE', 'id'],
      [3, 'UNKNOWN_EVENT_TYPE', 'type'],
      [4, 'NOT_AN_OBJECT', ''],
      [5, 'EVENT_SKIPPED', ''],
    ],
  )
  t.strictSame(api.streams.ingested, [])
})

t.test('an unknown type is refused, unless a topic is named', async (t) => {
  const api = await testApi(t, { processors })
  const unknown = await post(api, '{"ok":true}', binary('com.example.unknown'))
  t.match(
    [unknown.statusCode, unknown.json()],
    [400, { code: 'UNKNOWN_EVENT_TYPE', errors: [{ index: 0, field: 'type' }] }],
  )
  t.equal((await post(api, '{"ok":true}', binary('com.example.unknown'), '?topic=ka')).statusCode, 202)
  t.equal(api.streams.ingested.at(-1)?.domain, 'keep-alive')
  const noTopic = await post(api, '{"ok":true}', binary('org.onap.trust'), '?topic=nowhere')
  t.match(
    [noTopic.statusCode, noTopic.json()],
    [400, { code: 'PARAMETER_INVALID', message: /dmi-device-heartbeat, ka/ }],
  )
})

t.test('what is no CloudEvent is 400, what can never be read 415, what is too much 413', async (t) => {
  const api = await testApi(t, { processors })
  const cases: readonly (readonly [status: number, payload: unknown, headers: Record<string, string>])[] = [
    [400, '{"ok":true}', { 'content-type': 'application/json' }],
    [400, '', binary('org.onap.trust')],
    [400, '{', structured],
    [400, '[]', structured],
    [400, '{}', batch],
    [400, '[{', batch],
    [400, '{"__proto__":{}}', structured],
    [415, 'x', { 'content-type': 'application/cloudevents+xml' }],
    [415, 'avro', binary('org.onap.trust')],
    [415, 'x', { ...binary('org.onap.trust'), 'content-encoding': 'gzip' }],
    [413, Buffer.alloc(33 * 1024 * 1024, ' '), batch],
    [413, `[${'{},'.repeat(60_000)}{}]`, batch],
    [413, ' '.repeat(1024 * 1024 + 1), binary('org.onap.trust')],
  ]
  for (const [status, payload, headers] of cases) {
    const answer = await post(api, payload, headers)
    t.equal(
      answer.statusCode,
      status,
      `${String(payload).slice(0, 20)} ${JSON.stringify(headers)} ${answer.body.slice(0, 200)}`,
    )
    t.match(answer.json(), { status, code: String, message: String })
  }
  t.strictSame(api.streams.ingested, [])
})

t.test('when the log takes nothing it is 503 with Retry-After, without its text', async (t) => {
  const api = await testApi(t, { processors })
  api.streams.ingestFailure = new LogError('LOG_UNAVAILABLE', 'broker kafka-7:9092 does not answer')
  const answer = await post(api, '{"ok":true}', binary('org.onap.trust'))
  t.equal(answer.statusCode, 503)
  t.equal(answer.headers['retry-after'], '1')
  t.match(answer.json(), { code: 'UNAVAILABLE' })
  t.notMatch(answer.body, /kafka-7/)
})

t.test(
  'a refusal of a large batch is answered, also where its first events are refused before the last are sent',
  async (t) => {
    const api = await testApi(t, { processors })
    const unheard = unheardRejections(t)
    const events = Array.from({ length: 4001 }, (_, i) => envelope('org.onap.trust', true, `dev-${i}`))
    for (const code of ['LOG_UNAVAILABLE', 'LOG_CLOSED'] as const) {
      api.streams.ingestFailure = new LogError(code, 'the log is away')
      t.equal((await post(api, events, batch)).statusCode, 503, code)
    }
    t.strictSame(unheard, [])
  },
)

t.test('bodies under way are bounded together', async (t) => {
  const inFlight = bytesInFlight({ maxBodyBytes: 10, maxBytes: 15 })
  const first = new PassThrough()
  const taken = inFlight.receive(first, async (bytes) => bytes.toString())
  await new Promise((resolve) => first.write('123456789', () => setImmediate(resolve)))
  const second = new PassThrough()
  const refused = inFlight.receive(second, async () => t.fail('taken'))
  second.end('1234567')
  await t.rejects(refused, { code: 'OVERLOADED', headers: { 'retry-after': '1' } })
  first.end()
  t.equal(await taken, '123456789')
  const third = new PassThrough()
  third.end('1234567890')
  t.equal(await inFlight.receive(third, async (bytes) => bytes.length), 10, 'the bytes of the others are free again')
  const large = new PassThrough()
  large.end('12345678901')
  await t.rejects(
    inFlight.receive(large, async () => t.fail('taken')),
    { code: 'BODY_TOO_LARGE' },
  )
  t.equal(await inFlight.receive(undefined, async (bytes) => bytes.length), 0)
  await t.rejects(
    inFlight.receive(undefined, () => Promise.reject(new Error('task failed'))),
    { message: 'task failed' },
  )
})
