import t from 'tap'
import { avroType } from '../avro.js'
import type { EventRecord } from '../cloudevents/cloud-event.js'
import type { SchemaRegistry } from '../registry/schema-registry.js'
import { callOutcomeAvro, CALL_OUTCOME_TYPE } from './call-outcome-schema.js'
import { decodeCallOutcome } from './call-outcome.js'

const usual = { platform: 'voicemail', address: '10.0.0.1:5060', result: 'failure', callId: 'c-1' }

function record(value: unknown, headers: Record<string, string> = {}, timestamp: number | null = null): EventRecord {
  const all = {
    ce_specversion: '1.0',
    ce_id: 'e-1',
    ce_source: 'sis-1',
    ce_type: CALL_OUTCOME_TYPE,
    'content-type': 'application/json',
    ...headers,
  }
  return {
    value: Buffer.isBuffer(value) ? value : Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
    headers: Object.entries(all).map(([name, text]) => [name, Buffer.from(text)]),
    timestamp,
  }
}

t.test('an outcome goes to its platform, with all that was said', async (t) => {
  const said = { ...usual, cause: 'timeout', attemptId: '1-abc' }
  const time = '2026-11-30T08:00:00Z'
  t.strictSame(decodeCallOutcome(record(said, { ce_time: time })), {
    kind: 'event',
    key: 'voicemail',
    event: {
      type: 'CallOutcomeReported',
      data: { ...said, eventTime: Date.parse(time), eventTimeSource: 'CE_TIME', producer: 'sis-1', eventId: 'e-1' },
    },
  })
  t.match(decodeCallOutcome(record({ ...usual, cause: null, attemptId: null })), {
    event: { data: { cause: '', attemptId: '', eventTime: null, eventTimeSource: 'ABSENT' } },
  })
})

t.test('a structured event is the same', async (t) => {
  const envelope = { specversion: '1.0', id: 'e-1', source: 'sis-1', type: CALL_OUTCOME_TYPE, data: usual }
  t.match(decodeCallOutcome(record(envelope, { 'content-type': 'application/cloudevents+json' })), {
    kind: 'event',
    event: { data: { ...usual, eventId: 'e-1', producer: 'sis-1' } },
  })
})

t.test('TS-01 a record timestamp of -1 is arrival', async (t) => {
  t.match(decodeCallOutcome(record(usual, {}, -1)), {
    event: { data: { eventTime: null, eventTimeSource: 'MALFORMED' } },
  })
})

for (const digits of ['9007199254740993', '0', '-5', '123456789012345678901234567890']) {
  t.test(`IV-12 a call id that is the number ${digits} keeps every digit`, async (t) => {
    const json = JSON.stringify(usual).replace('"c-1"', digits)
    t.match(decodeCallOutcome(record(json)), { event: { data: { callId: digits } } })
    const envelope = `{"specversion":"1.0","id":"e","source":"s","type":"${CALL_OUTCOME_TYPE}","data":${json}}`
    t.match(decodeCallOutcome(record(envelope, { 'content-type': 'application/cloudevents+json' })), {
      event: { data: { callId: digits } },
    })
  })
}

const { platform: _platform, ...withoutPlatform } = usual
const { callId: _callId, ...withoutCallId } = usual
const wrong: readonly (readonly [what: string, value: unknown, code: string, field?: string])[] = [
  ['no JSON', '{', 'MALFORMED_JSON'],
  ['no object', '[]', 'NOT_AN_OBJECT', 'data'],
  ['a forbidden member', '{"__proto__":{}}', 'FORBIDDEN_MEMBER', '__proto__'],
  ['no platform', withoutPlatform, 'MISSING_OUTCOME_MEMBER', 'platform'],
  ['a platform that is null', { ...usual, platform: null }, 'MISSING_OUTCOME_MEMBER', 'platform'],
  ['no call id', withoutCallId, 'MISSING_OUTCOME_MEMBER', 'callId'],
  ['a platform that is no text', { ...usual, platform: 7 }, 'INVALID_OUTCOME_MEMBER', 'platform'],
  ['a blank address', { ...usual, address: ' ' }, 'INVALID_OUTCOME_MEMBER', 'address'],
  ['an address with a line break', { ...usual, address: 'a\nb' }, 'INVALID_OUTCOME_MEMBER', 'address'],
  ['a long address', { ...usual, address: 'x'.repeat(256) }, 'INVALID_OUTCOME_MEMBER', 'address'],
  ['a result in capitals', { ...usual, result: 'FAILURE' }, 'INVALID_OUTCOME_MEMBER', 'result'],
  ['another result', { ...usual, result: 'busy' }, 'INVALID_OUTCOME_MEMBER', 'result'],
  ['a call id with a fraction', { ...usual, callId: 1.5 }, 'INVALID_OUTCOME_MEMBER', 'callId'],
  ['a call id that is true', { ...usual, callId: true }, 'INVALID_OUTCOME_MEMBER', 'callId'],
  ['an empty attempt id', { ...usual, attemptId: '' }, 'INVALID_OUTCOME_MEMBER', 'attemptId'],
  ['a cause that is no text', { ...usual, cause: 500 }, 'INVALID_OUTCOME_MEMBER', 'cause'],
]

for (const [what, value, code, field] of wrong) {
  t.test(`${what} is refused with ${code}`, async (t) => {
    t.match(decodeCallOutcome(record(value)), { kind: 'rejected', code, message: String, ...(field && { field }) })
  })
}

t.test('all that is wrong with an outcome is named, what is missing first', async (t) => {
  const outcome = { platform: '', address: 5, result: 'busy', attemptId: {}, cause: 7 }
  const decoded = decodeCallOutcome(record(outcome)) as { field: string; more: readonly { field: string }[] }
  t.strictSame(
    [decoded, ...decoded.more].map(({ field }) => field),
    ['callId', 'platform', 'address', 'result', 'attemptId', 'cause'],
  )
  t.match(decodeCallOutcome(record({}, { ce_id: '', ce_source: '' })), {
    field: 'id',
    more: [{ code: 'BLANK_ATTRIBUTE', field: 'source' }],
  })
})

t.test('an event without value or data is refused', async (t) => {
  t.match(decodeCallOutcome({ ...record(usual), value: null }), { code: 'NULL_VALUE' })
  t.match(decodeCallOutcome(record('')), { code: 'EMPTY_VALUE' })
  const envelope = { specversion: '1.0', id: 'e-1', source: 'sis-1', type: CALL_OUTCOME_TYPE }
  t.match(decodeCallOutcome(record(envelope, { 'content-type': 'application/cloudevents+json' })), {
    code: 'MISSING_DATA',
  })
  t.match(decodeCallOutcome(record(usual, { ce_id: '' })), { code: 'BLANK_ATTRIBUTE' })
})

t.test('a long cause is cut', async (t) => {
  t.match(decodeCallOutcome(record({ ...usual, cause: 'x'.repeat(1000) })), {
    event: { data: { cause: 'x'.repeat(255) } },
  })
})

t.test('Avro is read with a registry, and refused without', async (t) => {
  const type = avroType(callOutcomeAvro)
  const avro = { 'content-type': 'application/avro' }
  const registry: SchemaRegistry = { decode: (value) => ({ ok: true, value: type.fromBuffer(value.subarray(5)) }) }
  const later: SchemaRegistry = { decode: (value, reader) => Promise.resolve(registry.decode(value, reader)) }
  const framed = (data: object): Buffer => Buffer.concat([Buffer.from([0, 0, 0, 0, 1]), type.toBuffer(data)])
  const value = framed({ ...usual, cause: 'timeout', attemptId: null })
  t.match(decodeCallOutcome(record(value, avro)), { code: 'NO_SCHEMA_REGISTRY' })
  t.match(decodeCallOutcome(record(value, avro), registry), {
    event: { data: { ...usual, cause: 'timeout', attemptId: '' } },
  })
  t.match(await decodeCallOutcome(record(value, avro), later), { event: { data: usual } })
  const long: SchemaRegistry = { decode: () => ({ ok: true, value: { ...usual, callId: 9007199254740993n } }) }
  t.match(decodeCallOutcome(record(value, avro), long), { event: { data: { callId: '9007199254740993' } } })
})
