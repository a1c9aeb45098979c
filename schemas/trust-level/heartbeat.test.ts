import fc from 'fast-check'
import t from 'tap'
import type { EventRecord } from '../cloudevents/cloud-event.js'
import { inputErrors } from '../input-errors.js'
import { decodeHeartbeat } from './heartbeat.js'
import type { HeartbeatDecoded } from './heartbeat.js'

const timestamp = Date.UTC(2026, 2, 1)
const upstreamType = 'org.onap.cps.ncmp.events.trustlevel.DeviceTrustLevel'
const body = '{"data":{"trustLevel":"NONE"}}'
const usual = {
  ce_specversion: '1.0',
  ce_id: 'dev-1',
  ce_type: upstreamType,
  ce_source: 'dmi-1',
  'content-type': 'application/json',
}

/** A binary-mode record; a header given as undefined is left out. */
function record(
  headers: Readonly<Record<string, string | undefined>> = {},
  value: string | Buffer | null = body,
  extra: EventRecord['headers'] = [],
): EventRecord {
  const all: Readonly<Record<string, string | undefined>> = { ...usual, ...headers }
  const pairs = Object.entries(all).flatMap(([name, text]) =>
    text === undefined ? [] : [[name, Buffer.from(text)] as const],
  )
  return { value: typeof value === 'string' ? Buffer.from(value) : value, headers: [...pairs, ...extra], timestamp }
}

function structured(envelope: object, contentType = 'application/cloudevents+json'): EventRecord {
  return {
    value: Buffer.from(JSON.stringify(envelope)),
    headers: [['content-type', Buffer.from(contentType)]],
    timestamp,
  }
}

const envelope = { specversion: '1.0', id: 'dev-1', type: upstreamType, source: 'dmi-1', data: { trustLevel: 'NONE' } }

function decode(input: EventRecord): HeartbeatDecoded {
  const decoded = decodeHeartbeat(input)
  if (decoded instanceof Promise) throw new Error('without a registry the result is there at once')
  return decoded
}

/** "NONE", "COMPLETE", or the code of the refusal with its field. */
function outcome(input: EventRecord): string {
  const decoded = decode(input)
  if (decoded.kind === 'event') return decoded.event.data.trustLevel
  return [decoded.code, ...(decoded.field === undefined ? [] : [decoded.field])].join(' ')
}

t.test('a heartbeat becomes a report on the handle that its id names', async (t) => {
  t.same(decode(record({ ce_time: '2026-03-01T10:00:00.5Z', ce_correlationid: 'x', ce_dataschema: 'urn:x' })), {
    kind: 'event',
    key: 'dev-1',
    event: {
      type: 'HeartbeatReported',
      data: {
        cmHandle: 'dev-1',
        trustLevel: 'NONE',
        eventTime: Date.UTC(2026, 2, 1, 10, 0, 0, 500),
        eventTimeSource: 'CE_TIME',
        producer: 'dmi-1',
        eventType: upstreamType,
      },
    },
  })
})

t.test('IV-01 malformed or level-less bodies are refused, whatever comes before and after', async (t) => {
  const bodies: readonly (readonly [value: string | Buffer, outcome: string])[] = [
    ['{"data":{"trustLevel":"COMPLETE"}}', 'COMPLETE'],
    ['{"data":{', 'MALFORMED_JSON'],
    ['{"data":{"trustLevel":"NONE"}}', 'NONE'],
    ['null', 'NOT_AN_OBJECT data'],
    ['{"data":null}', 'MISSING_TRUST_LEVEL data.trustLevel'],
    ['[]', 'NOT_AN_OBJECT data'],
    ['"NONE"', 'NOT_AN_OBJECT data'],
    [Buffer.from([0x7b, 0xff, 0x7d]), 'MALFORMED_TEXT'],
    ['{"__proto__":{"x":1},"trustLevel":"NONE"}', 'FORBIDDEN_MEMBER __proto__'],
    ['['.repeat(50_000), 'NESTED_TOO_DEEPLY'],
  ]
  for (const [value, expected] of bodies) t.equal(outcome(record({}, value)), expected, value.toString().slice(0, 40))
})

t.test('IV-02 null and empty values are refused with reasons told apart', async (t) => {
  t.equal(outcome(record({}, null)), 'NULL_VALUE')
  t.equal(outcome(record({}, '')), 'EMPTY_VALUE')
  t.equal(outcome({ value: null, headers: [], timestamp }), 'NULL_VALUE', 'a bare delete marker too')
})

t.test('IV-04 a missing or blank mandatory attribute is named, and the key never stands for the id', async (t) => {
  for (const name of ['id', 'source', 'type', 'specversion']) {
    t.equal(outcome(record({ [`ce_${name}`]: undefined })), `MISSING_ATTRIBUTE ${name}`)
    const decoded = decode(record({ [`ce_${name}`]: undefined }))
    t.match(decoded, { kind: 'rejected', message: new RegExp(`ce_${name}`) })
    t.equal(outcome(record({ [`ce_${name}`]: '   ' })), `BLANK_ATTRIBUTE ${name}`)
    t.equal(outcome(record({ [`ce_${name}`]: '' })), `BLANK_ATTRIBUTE ${name}`)
  }
  t.equal(outcome(record({ ce_id: 'dev-9' })), 'NONE')
})

t.test('IV-05 headers named like members of Object change nothing', async (t) => {
  for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
    t.equal(outcome(record({}, body, [[name, Buffer.from('x')]])), 'NONE')
    t.equal(outcome(record({}, '{', [[name, Buffer.from('x')]])), 'MALFORMED_JSON')
  }
})

t.test('IV-07 any content type but Avro and envelopes means JSON', async (t) => {
  const contentTypes = [
    undefined,
    'application/json',
    'application/json; charset=UTF-8',
    'APPLICATION/JSON',
    'text/plain',
    '',
  ]
  for (const contentType of contentTypes)
    t.equal(outcome(record({ 'content-type': contentType })), 'NONE', String(contentType))
  t.equal(outcome(record({ 'content-type': undefined, 'Content-Type': 'application/avro' })), 'NO_SCHEMA_REGISTRY')
  t.equal(outcome(record({ 'content-type': undefined, content_type: 'application/avro; x=1' })), 'NO_SCHEMA_REGISTRY')
})

t.test('IV-09 a level word that is not exactly NONE or COMPLETE is refused', async (t) => {
  for (const level of ['PARTIAL', 'complete', 'NONE ', '', 0, false, null, ['NONE'], { NONE: 1 }]) {
    const value = JSON.stringify({ data: { trustLevel: level } })
    t.equal(outcome(record({}, value)), 'INVALID_TRUST_LEVEL data.trustLevel', value)
  }
  t.equal(outcome(record({}, '{"data":{}}')), 'MISSING_TRUST_LEVEL data.trustLevel')
})

t.test('both wrappings and both spellings are read, and must agree', async (t) => {
  const table: readonly (readonly [data: unknown, outcome: string])[] = [
    [{ trustLevel: 'COMPLETE' }, 'COMPLETE'],
    [{ trustlevel: 'NONE' }, 'NONE'],
    [{ data: { trustlevel: 'COMPLETE' } }, 'COMPLETE'],
    [{ data: { trustLevel: 'NONE', other: [1, { a: 2 }] }, more: null }, 'NONE'],
    [{ data: 'something else', trustLevel: 'NONE' }, 'NONE'],
    [{ data: { trustLevel: 'NONE', trustlevel: 'NONE' } }, 'NONE'],
    [{ data: { trustLevel: 'NONE', trustlevel: 'COMPLETE' } }, 'CONFLICTING_TRUST_LEVELS data.trustLevel'],
    [{ data: { trustLevel: 'NONE' }, trustlevel: 'COMPLETE' }, 'CONFLICTING_TRUST_LEVELS data.trustLevel'],
    [{ trustLevel: 'NONE', trustlevel: null }, 'CONFLICTING_TRUST_LEVELS trustLevel'],
    [{ TRUSTLEVEL: 'NONE' }, 'MISSING_TRUST_LEVEL data.trustLevel'],
  ]
  for (const [data, expected] of table) {
    t.equal(outcome(record({}, JSON.stringify(data))), expected, JSON.stringify(data))
    t.equal(outcome(record({}, JSON.stringify(data, null, 2))), expected, 'with blanks')
    t.equal(outcome(structured({ ...envelope, data })), expected, 'structured')
  }
})

t.test('a structured event takes everything from its envelope', async (t) => {
  t.same(
    decode(
      structured({ ...envelope, time: '2026-03-01T00:00:01+01:00' }, 'Application/CloudEvents+JSON; charset=utf-8'),
    ),
    {
      kind: 'event',
      key: 'dev-1',
      event: {
        type: 'HeartbeatReported',
        data: {
          cmHandle: 'dev-1',
          trustLevel: 'NONE',
          eventTime: Date.UTC(2026, 1, 28, 23, 0, 1),
          eventTimeSource: 'CE_TIME',
          producer: 'dmi-1',
          eventType: upstreamType,
        },
      },
    },
  )
  const table: readonly (readonly [change: object, outcome: string])[] = [
    [{ id: undefined }, 'MISSING_ATTRIBUTE id'],
    [{ id: null }, 'MISSING_ATTRIBUTE id'],
    [{ id: 7 }, 'INVALID_ATTRIBUTE id'],
    [{ id: 'a\ud800' }, 'INVALID_ATTRIBUTE id'],
    [{ data: undefined }, 'MISSING_DATA data'],
    [{ data: null }, 'NOT_AN_OBJECT data'],
    [{ data: undefined, data_base64: Buffer.from(body).toString('base64') }, 'NONE'],
    [{ data: undefined, data_base64: '%%' }, 'INVALID_BINARY_DATA data_base64'],
    [{ data_base64: '' }, 'CONFLICTING_DATA data_base64'],
    [{ data: undefined, datacontenttype: 'application/avro', data_base64: 'AAAA' }, 'NO_SCHEMA_REGISTRY'],
  ]
  for (const [change, expected] of table) {
    t.equal(outcome(structured({ ...envelope, ...change })), expected, JSON.stringify(change))
  }
  t.equal(outcome(structured([envelope])), 'NOT_AN_OBJECT')
  t.equal(outcome(structured(envelope, 'application/cloudevents+avro')), 'UNSUPPORTED_EVENT_FORMAT content-type')
  t.equal(
    outcome(structured([envelope], 'application/cloudevents-batch+json')),
    'UNSUPPORTED_EVENT_FORMAT content-type',
  )
})

t.test('TS-01 a record timestamp of -1 counts as arrival, unless the event has a time', async (t) => {
  t.match(decode({ ...record(), timestamp: -1 }), {
    event: { data: { eventTime: null, eventTimeSource: 'MALFORMED' } },
  })
  t.match(decode({ ...record({ ce_time: '2026-03-01T00:00:00Z' }), timestamp: -1 }), {
    event: { data: { eventTime: timestamp, eventTimeSource: 'CE_TIME' } },
  })
  t.match(decode(record()), { event: { data: { eventTime: timestamp, eventTimeSource: 'RECORD' } } })
  t.match(decode({ ...record(), timestamp: null }), { event: { data: { eventTime: null, eventTimeSource: 'ABSENT' } } })
})

t.test('TS-06 nanoseconds and seconds in place of milliseconds count as arrival', async (t) => {
  for (const wrong of ['1710064800123456789', '1710064800']) {
    t.match(decode({ ...record(), timestamp: Number(wrong) }), {
      event: { data: { eventTime: null, eventTimeSource: 'MALFORMED' } },
    })
    t.match(decode(record({ ce_time: wrong })), {
      event: { data: { eventTime: null, eventTimeSource: 'MALFORMED' } },
    })
    t.match(decode(structured({ ...envelope, time: Number(wrong) })), {
      event: { data: { eventTime: null, eventTimeSource: 'MALFORMED' } },
    })
  }
})

t.test('SE-02 ids named like members of Object are ids', async (t) => {
  for (const id of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    t.match(decode(record({ ce_id: id })), { kind: 'event', key: id })
    t.match(decode(structured({ ...envelope, id })), { kind: 'event', key: id })
  }
})

t.test('SE-04 line breaks and control characters in an id are refused, and not repeated in the message', async (t) => {
  for (const id of ['dev-1\n{"level":30}', 'dev\u001b[31m', 'a\u0085b', 'a\u2028b', 'a\u007f', '\u{1f600}\n']) {
    t.equal(outcome(record({ ce_id: id })), 'INVALID_ATTRIBUTE id')
    t.notMatch(JSON.stringify(decode(record({ ce_id: id }))), id.slice(0, 3))
  }
  t.equal(outcome(record({}, body, [['ce_id', Buffer.from('dev-1')]])), 'NONE', 'sent twice with the same value')
  t.equal(outcome(record({}, body, [['ce_id', Buffer.from('dev-2')]])), 'REPEATED_ATTRIBUTE id')
  t.equal(outcome(record({ ce_id: undefined }, body, [['ce_id', Buffer.from([0xff])]])), 'INVALID_ATTRIBUTE id')
  for (const id of ['"dev-1"', 'a b', 'a/b=c', 'gerät-\u{1f4e1}', 'a\u200fb', '\ufffd']) {
    t.match(decode(record({ ce_id: id })), { kind: 'event', key: id }, 'any other text is taken as it is')
  }
})

t.test('ids have up to 255 characters, and values up to 1 MiB', async (t) => {
  t.equal(outcome(record({ ce_id: 'x'.repeat(255) })), 'NONE')
  t.equal(outcome(record({ ce_id: 'x'.repeat(256) })), 'ID_TOO_LONG id')
  t.equal(outcome(record({ ce_type: 'x'.repeat(256) })), 'ATTRIBUTE_TOO_LONG type')
  t.equal(outcome(record({ ce_source: 'x'.repeat(2049) })), 'ATTRIBUTE_TOO_LONG source')
  const padded = (bytes: number): string => body.padEnd(bytes)
  t.equal(outcome(record({}, padded(1024 * 1024))), 'NONE')
  t.equal(outcome(record({}, padded(1024 * 1024 + 1))), 'INPUT_TOO_LARGE')
})

t.test('every event type is taken, and kept', async (t) => {
  t.match(decode(record({ ce_type: 'something.else' })), { event: { data: { eventType: 'something.else' } } })
  t.equal(outcome(record({ ce_specversion: '0.3' })), 'UNSUPPORTED_SPECVERSION specversion')
  t.equal(outcome(record({ ce_id: undefined, CE_ID: 'dev-1' })), 'NONE', 'header names in any case')
})

t.test('whatever a record holds, the result is an event or a refusal with a documented code', async () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 80 }).map((array) => Buffer.from(array)),
    fc.json().map((text) => Buffer.from(text)),
    fc
      .constantFrom('1.0', 'dev-1', body, '{"trustLevel":', 'application/cloudevents+json', 'application/avro')
      .map((text) => Buffer.from(text)),
  )
  const name = fc.oneof(
    fc.string(),
    fc.constantFrom(...Object.keys(usual), 'CE_ID', 'ce_time', '__proto__', 'content_type'),
  )
  const headers = fc.array(fc.tuple(name, bytes), { maxLength: 8 })
  const value = fc.oneof(fc.constant(null), bytes)
  const anyTimestamp = fc.oneof(fc.constant(null), fc.double(), fc.integer())
  fc.assert(
    fc.property(headers, value, anyTimestamp, fc.boolean(), (extra, value, timestamp, complete) => {
      const decoded = decode({ value, headers: complete ? [...record().headers, ...extra] : extra, timestamp })
      if (decoded.kind === 'rejected') return decoded.code in inputErrors
      const { eventTime, trustLevel } = decoded.event.data
      return (eventTime === null || Number.isSafeInteger(eventTime)) && ['NONE', 'COMPLETE'].includes(trustLevel)
    }),
    { numRuns: 3000, seed: 20260301 },
  )
})
