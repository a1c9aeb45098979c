import fc from 'fast-check'
import t from 'tap'
import { inputErrors } from '../input-errors.js'
import { decodeHeartbeat } from '../trust-level/heartbeat.js'
import { extensionOf } from './cloud-event.js'
import type { CloudEvent } from './cloud-event.js'
import { decodeRecords, MAX_BATCH_EVENTS, recordsOf } from './http.js'

const binary = ['ce-specversion', '1.0', 'Ce-Id', 'dev-1', 'CE-TYPE', 'some.type', 'ce-source', 'dmi-1']
const envelope = { specversion: '1.0', id: 'dev-1', type: 'some.type', source: 'dmi-1', data: { trustLevel: 'NONE' } }
const batchHeaders = ['content-type', 'application/cloudevents-batch+json; charset=utf-8']
const body = Buffer.from('{"trustLevel":"NONE"}')

interface Outcome {
  readonly events: readonly CloudEvent[]
  readonly faults: readonly string[]
}

/** Faults as "index code field". */
function outcome(rawHeaders: readonly string[], body: Buffer | string | null): Outcome {
  const records = recordsOf({ rawHeaders, body: typeof body === 'string' ? Buffer.from(body) : body })
  const { events, faults } = records.ok
    ? decodeRecords(records.value)
    : { events: [], faults: records.faults.map((fault) => ({ index: 0, ...fault })) }
  return { events, faults: faults.map(({ index, code, field }) => [index, code, field ?? ''].join(' ').trim()) }
}

t.test('a binary event is read from its headers, in any case', async (t) => {
  const { events, faults } = outcome(
    [...binary, 'Content-Type', 'application/json; charset=utf-8', 'ce-mtype', '1100'],
    body,
  )
  t.same(faults, [])
  t.match(events, [
    { id: 'dev-1', type: 'some.type', source: 'dmi-1', time: null, dataContentType: 'application/json', data: body },
  ])
  const [event] = events
  t.equal(extensionOf(event!, 'mtype'), '1100')
  t.equal(extensionOf(event!, 'meid'), undefined)
})

t.test('binary header values are unquoted and percent-decoded once', async (t) => {
  const table: readonly (readonly [value: string, id: string])[] = [
    ['Euro%20%E2%82%AC%20%F0%9F%98%80', 'Euro € 😀'],
    ['%e2%82%ac', '€'],
    ['"dev 1"', 'dev 1'],
    ['"a\\"b\\\\c%22"', 'a"b\\c"'],
    ['a"b"', 'a"b"'],
    ['"open', '"open'],
    ['%2541', '%41'],
    ['%64ev', 'dev'],
    [Buffer.from('gerät').toString('latin1'), 'gerät'],
  ]
  for (const [value, id] of table) {
    t.match(outcome([...binary, 'ce-id', value].toSpliced(2, 2), body).events, [{ id }], value)
  }
  for (const value of ['%C0%A0', '%', '%4', '%zz', '50% up', '\u00e4']) {
    t.same(outcome([...binary, 'ce-id', value].toSpliced(2, 2), body).faults, ['0 MALFORMED_TEXT id'], value)
  }
  t.same(outcome([...binary, 'ce-id', 'dev%0A1'].toSpliced(2, 2), body).faults, ['0 INVALID_ATTRIBUTE id'], 'SE-04')
  t.same(outcome([...binary, 'ce-id', 'dev-2'], body).faults, ['0 REPEATED_ATTRIBUTE id'])
})

t.test('all missing attributes of an event are named at once', async (t) => {
  t.same(outcome(['content-type', 'application/json'], body).faults, [
    '0 MISSING_ATTRIBUTE id',
    '0 MISSING_ATTRIBUTE source',
    '0 MISSING_ATTRIBUTE type',
    '0 MISSING_ATTRIBUTE specversion',
  ])
  t.same(outcome(['content-type', 'application/cloudevents+json'], '{"id":" ","type":1,"data_base64":1}').faults, [
    '0 BLANK_ATTRIBUTE id',
    '0 MISSING_ATTRIBUTE source',
    '0 INVALID_ATTRIBUTE type',
    '0 MISSING_ATTRIBUTE specversion',
    '0 INVALID_BINARY_DATA data_base64',
  ])
})

t.test('a structured event is read from its envelope, whatever the ce- headers say', async (t) => {
  const headers = ['Content-Type', 'application/cloudevents+json; charset=utf-8', 'ce-id', 'other']
  const json = JSON.stringify({ ...envelope, time: '2026-03-01T00:00:00Z', meid: 'gnb-1', nested: {} })
  const { events } = outcome(headers, json)
  t.match(events, [{ id: 'dev-1', time: '2026-03-01T00:00:00Z', data: Buffer.from('{"trustLevel":"NONE"}') }])
  t.equal(extensionOf(events[0]!, 'meid'), 'gnb-1')
  t.equal(extensionOf(events[0]!, 'nested'), undefined)
  t.same(outcome(headers, '').faults, ['0 EMPTY_VALUE'])
  t.same(outcome(headers, null).faults, ['0 NULL_VALUE'])
  t.same(outcome(headers, '{').faults, ['0 MALFORMED_JSON'])
  t.same(outcome(['content-type', 'application/cloudevents+xml'], '<e/>').faults, [
    '0 UNSUPPORTED_EVENT_FORMAT content-type',
  ])
})

t.test('a batch tells every fault by the index of its event', async (t) => {
  const { id, ...nameless } = envelope
  t.equal(id, 'dev-1')
  const elements = [envelope, nameless, { ...envelope, id: 'x'.repeat(256), source: '' }, 7, envelope]
  const json = JSON.stringify(elements).replace(/7,/, '7, {"a":},')
  const { events, faults } = outcome(batchHeaders, json)
  t.equal(events.length, 2)
  t.same(faults, [
    '1 MISSING_ATTRIBUTE id',
    '2 ID_TOO_LONG id',
    '2 BLANK_ATTRIBUTE source',
    '3 NOT_AN_OBJECT',
    '4 MALFORMED_JSON',
  ])
  t.match(decodeRecords([{ value: null, headers: [], timestamp: null }], 1000).faults[0], { index: 1000 })
})

t.test('a batch that is no array, not closed or too long is refused as a whole', async (t) => {
  t.same(outcome(batchHeaders, '[]'), { events: [], faults: [] })
  t.same(outcome(batchHeaders, JSON.stringify(envelope)).faults, ['0 NOT_AN_ARRAY'])
  t.same(outcome(batchHeaders, null).faults, ['0 NOT_AN_ARRAY'])
  t.same(outcome(batchHeaders, '[{},').faults, ['0 MALFORMED_JSON'])
  t.same(outcome(batchHeaders, '[{}]]').faults, ['0 MALFORMED_JSON'])
  const array = (length: number): string => `[${'1,'.repeat(length - 1)}1]`
  t.equal(outcome(batchHeaders, array(MAX_BATCH_EVENTS)).faults.length, MAX_BATCH_EVENTS)
  t.same(outcome(batchHeaders, array(MAX_BATCH_EVENTS + 1)).faults, ['0 TOO_MANY_EVENTS'])
  t.same(outcome(batchHeaders, '['.repeat(50_000)).faults, ['0 MALFORMED_JSON'])
  t.same(outcome(batchHeaders, `[${'['.repeat(50_000)}${']'.repeat(50_000)}]`).faults, ['0 NESTED_TOO_DEEPLY'])
})

t.test('IV-12 the data of a batched event keeps the digits of its numbers', async (t) => {
  const { events } = outcome(
    batchHeaders,
    `[ ${JSON.stringify({ ...envelope, data: 1 }).replace('1}', '{"callId": 9007199254740993}}')} ]`,
  )
  t.equal(events[0]?.data?.toString(), '{"callId": 9007199254740993}')
})

t.test('events over HTTP are heartbeats as on the topic', async (t) => {
  const records = recordsOf({ rawHeaders: batchHeaders, body: Buffer.from(JSON.stringify([envelope])) })
  t.ok(records.ok)
  if (!records.ok) return
  t.match(decodeHeartbeat(records.value[0]!), {
    key: 'dev-1',
    event: { data: { trustLevel: 'NONE', eventTime: null, eventTimeSource: 'ABSENT' } },
  })
})

t.test('whatever a request holds, each fault has a documented code and an index', async () => {
  const name = fc.oneof(fc.string(), fc.constantFrom('ce-id', 'ce-type', 'ce-source', 'ce-specversion', 'content-type'))
  const value = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('1.0', 'application/cloudevents+json', 'application/cloudevents-batch+json', '%41', '"a"'),
  )
  const headers = fc.array(fc.tuple(name, value), { maxLength: 8 }).map((pairs) => pairs.flat())
  const anyBody = fc.oneof(
    fc.constant(null),
    fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
    fc.json().map((json) => Buffer.from(`[${json},${JSON.stringify(envelope)}]`)),
  )
  fc.assert(
    fc.property(headers, anyBody, (rawHeaders, body) => {
      const records = recordsOf({ rawHeaders, body })
      if (!records.ok) return records.faults.every(({ code }) => code in inputErrors)
      const { events, faults } = decodeRecords(records.value)
      const faulty = new Set(faults.map(({ index }) => index))
      return faulty.size + events.length === records.value.length && faults.every(({ code }) => code in inputErrors)
    }),
    { seed: 4, numRuns: 2000 },
  )
})
