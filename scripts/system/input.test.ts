import t from 'tap'
import type { Test } from 'tap'
import { realBrokers } from '../../topology/log/kafka/real-brokers.js'
import type { NewRecord } from '../../topology/log/log.js'
import { partitionOf } from '../../topology/partitioner.js'
import { heartbeat, onKafka, PLUGIN, startSystem } from './fixtures.js'
import type { System } from './fixtures.js'
import { until } from './until.js'

t.test('the embedded log', async (t) => inputCases(t, await startSystem(t, { partitions: 6 })))

const brokers = realBrokers(t)
if (brokers.length > 0) {
  t.test('Kafka', async (t) => inputCases(t, await startSystem(t, { partitions: 6, ...(await onKafka(t, brokers)) })))
}

/** What comes over the heartbeat topic, to a system of six partitions; the same whatever log is below. */
function inputCases(t: Test, system: System): void {
  const { append, ask, level, levelIs, metric, register, settled, settings } = system
  const { heartbeatTopic, applicationId } = settings

  /** Codes of the dead letters of records appended to `partition` from `offset` on, in the order of their records. */
  async function deadLetters(partition: number, offset: number): Promise<Record<string, string>[]> {
    const letters = await system.deadLetters()
    return letters
      .filter(({ headers }) => headers['__streams.errors.partition'] === String(partition))
      .filter(({ headers }) => Number(headers['__streams.errors.offset']) >= offset)
      .sort((a, b) => Number(a.headers['__streams.errors.offset']) - Number(b.headers['__streams.errors.offset']))
      .map(({ headers, key, value }) => ({
        ...headers,
        offset: String(Number(headers['__streams.errors.offset']) - offset),
        code: headers['__streams.errors.exception'] ?? '',
        message: headers['__streams.errors.message'] ?? '',
        key: key ?? 'null',
        value: value?.toString('latin1') ?? 'null',
      }))
  }

  /** Appends, waits, and answers the dead letters that came of it; their number must be `expected`. */
  async function send(records: readonly NewRecord[], expected: number, partition = 0) {
    const { end } = await system.pulsefold().application.log.offsets({ topic: heartbeatTopic, partition })
    await append(records, partition)
    await settled()
    return until(`${expected} dead letters`, async () => {
      const letters = await deadLetters(partition, end)
      return letters.length >= expected && letters
    })
  }

  t.test('IV-01 malformed JSON between two good heartbeats', async (t) => {
    await register(PLUGIN, ['iv01-1', 'iv01-2', 'iv01-3', 'iv01-4'])
    const letters = await send(
      [
        heartbeat('iv01-1', 'COMPLETE'),
        heartbeat('iv01-2', 'NONE', { value: '{"data":{' }),
        heartbeat('iv01-3', 'NONE'),
        heartbeat('iv01-2', 'NONE', { value: 'null' }),
        heartbeat('iv01-2', 'NONE', { value: '{"data":null}' }),
        heartbeat('iv01-4', 'NONE'),
      ],
      3,
    )
    t.same(
      letters.map(({ offset, code }) => [offset, code]),
      [
        ['1', 'MALFORMED_JSON'],
        ['3', 'NOT_AN_OBJECT'],
        ['4', 'MISSING_TRUST_LEVEL'],
      ],
    )
    await levelIs('iv01-3', 'NONE')
    await levelIs('iv01-4', 'NONE')
    t.equal(await level('iv01-2'), 'COMPLETE')
    t.equal((await ask('/ops/health/ready')).status, 200)
  })

  t.test(
    'a dead letter keeps bytes and headers, names topic, partition, offset and code, and is counted',
    async (t) => {
      const value = Buffer.from([0x7b, 0xff, 0xfe, 0x00, 0x0a])
      const before = await metric('pulsefold_dead_letter_records_total', 'MALFORMED_TEXT')
      const { end } = await system.pulsefold().application.log.offsets({ topic: heartbeatTopic, partition: 4 })
      const [letter] = await send(
        [heartbeat('dl-1', 'NONE', { key: 'the key', value, headers: { extra: 'ü "x"' } })],
        1,
        4,
      )
      t.match(letter, {
        '__streams.errors.topic': heartbeatTopic,
        '__streams.errors.partition': '4',
        '__streams.errors.offset': String(end),
        '__streams.errors.exception': 'MALFORMED_TEXT',
        '__streams.errors.message': /UTF-8|text/,
        ce_id: 'dl-1',
        ce_source: 'test',
        extra: 'ü "x"',
        key: 'the key',
        value: value.toString('latin1'),
      })
      t.equal(await metric('pulsefold_dead_letter_records_total', 'MALFORMED_TEXT'), before + 1)
    },
  )

  t.test('IV-02 null and empty value on the heartbeat topic', async (t) => {
    await register(PLUGIN, ['iv02'])
    const wrong = [heartbeat('iv02', 'NONE', { value: null }), heartbeat('iv02', 'NONE', { value: '' })]
    const letters = await send(wrong, 2)
    t.same(
      letters.map(({ code, value }) => [code, value]),
      [
        ['NULL_VALUE', 'null'],
        ['EMPTY_VALUE', ''],
      ],
    )
    t.equal(await level('iv02'), 'COMPLETE')
    await append([heartbeat('iv02', 'NONE')])
    await levelIs('iv02', 'NONE')
    for (const code of ['NULL_VALUE', 'EMPTY_VALUE']) {
      t.equal(await metric('pulsefold_ingested_records_total', code), 1, `${code} is not tried again`)
    }
  })

  t.test('IV-04 a mandatory ce_ header missing or blank', async (t) => {
    await register(PLUGIN, ['iv04-1', 'iv04-9'])
    const names = ['ce_id', 'ce_source', 'ce_type', 'ce_specversion']
    const lacking = names.map((name) => heartbeat('iv04-1', 'NONE', { headers: { [name]: undefined } }))
    const blank = heartbeat('iv04-1', 'NONE', { headers: { ce_id: '   ' } })
    const letters = await send([...lacking, blank, heartbeat('iv04-9', 'NONE')], 5)
    t.same(
      letters.map(({ code }) => code),
      [...names.map(() => 'MISSING_ATTRIBUTE'), 'BLANK_ATTRIBUTE'],
    )
    for (const [i, name] of [...names, 'ce_id'].entries()) t.match(letters[i]?.message, name.slice('ce_'.length))
    await levelIs('iv04-9', 'NONE')
    t.equal(await level('iv04-1'), 'COMPLETE')
  })

  t.test('IV-05 a header named constructor, __proto__ or toString', async (t) => {
    for (const name of ['constructor', '__proto__', 'toString']) {
      const id = `iv05-${name.replaceAll('_', '')}`
      await register(PLUGIN, [id, `${id}-next`])
      const odd = (record: NewRecord): NewRecord => ({
        ...record,
        headers: [...(record.headers ?? []), [name, Buffer.from('x')]],
      })
      const malformed = odd(heartbeat(id, 'NONE', { value: '{' }))
      const letters = await send([odd(heartbeat(id, 'NONE')), malformed, heartbeat(`${id}-next`, 'NONE')], 1)
      t.match(letters, [{ code: 'MALFORMED_JSON', value: '{', ce_id: id, '__pulsefold.dropped-headers': name }])
      await levelIs(id, 'NONE')
      await levelIs(`${id}-next`, 'NONE')
    }
  })

  t.test('IV-07 binary CloudEvents with no or unusual content-type', async (t) => {
    const types = [undefined, 'application/json', 'application/json; charset=UTF-8', 'APPLICATION/JSON']
    const ids = types.map((_, i) => `iv07-${i}`)
    await register(PLUGIN, ids)
    await append(types.map((type, i) => heartbeat(ids[i]!, 'NONE', { headers: { 'content-type': type } })))
    for (const id of ids) t.ok(await levelIs(id, 'NONE'))
  })

  t.test('IV-09 a level word that is not exactly NONE or COMPLETE', async (t) => {
    await register(PLUGIN, ['iv09-1', 'iv09-2'])
    const words = ['PARTIAL', 'complete', 'NONE ', '', 0, false, undefined]
    const letters = await send([...words.map((word) => heartbeat('iv09-1', word)), heartbeat('iv09-2', 'NONE')], 7)
    t.same(
      letters.map(({ code }) => code),
      [...words.slice(0, 6).map(() => 'INVALID_TRUST_LEVEL'), 'MISSING_TRUST_LEVEL'],
    )
    await levelIs('iv09-2', 'NONE')
    t.equal(await level('iv09-1'), 'COMPLETE')
  })

  t.test(
    'IV-12 a 64-bit integer in a JSON payload keeps its digits in dead letters, journal and records',
    async (t) => {
      await register(PLUGIN, ['iv12'])
      const member = '"callId":9007199254740993'
      const refused = `{"data":{"trustLevel":"PARTIAL"},${member}}`
      const letters = await send([heartbeat('iv12', '', { value: refused })], 1)
      t.equal(letters[0]?.value, refused)
      const { end } = await system.pulsefold().application.log.offsets({ topic: heartbeatTopic, partition: 0 })
      const taken = `{"data":{"trustLevel":"NONE"},${member}}`
      await append([heartbeat('iv12', '', { value: taken })])
      await levelIs('iv12', 'NONE')
      const source = await ask(`/ops/topics/${heartbeatTopic}/records?partition=0&offset=${end}&encoding=base64`)
      t.match(source.text, Buffer.from(taken).toString('base64'))

      const envelope = {
        specversion: '1.0',
        id: 'iv12',
        source: 'test',
        type: 'org.onap.cm.events.trustlevel-notification',
        data: 0,
      }
      const body = JSON.stringify(envelope).replace('"data":0', `"data":{"trustLevel":"COMPLETE",${member}}`)
      const posted = await ask('/events', { body, headers: { 'content-type': 'application/cloudevents+json' } })
      t.equal(posted.status, 202)
      const [position] = (
        JSON.parse(posted.text) as { positions: { topic: string; partition: number; offset: number }[] }
      ).positions
      const path = `/ops/topics/${position!.topic}/records?partition=${position!.partition}&offset=${position!.offset}&limit=1`
      const journal = JSON.parse((await ask(path)).text) as { records: { value: { original: { value: string } }[] }[] }
      const original = journal.records[0]?.value.map((entry) => Buffer.from(entry.original.value, 'base64').toString())
      t.match(original?.join(), member)
    },
  )

  t.test('IV-14 a null key, or a key different from ce_id', async (t) => {
    await register(PLUGIN, ['iv14-1', 'iv14-2'])
    const records = Array.from({ length: 200 }, (_, i) => ({
      partition: i % 6,
      record: heartbeat('iv14-1', i % 2 === 0 ? 'COMPLETE' : 'NONE', {
        key: null,
        headers: { ce_time: new Date(Date.now() - 60_000 + i * 100).toISOString() },
      }),
    }))
    const last = records.pop()!
    const mismatched = heartbeat('iv14-1', 'COMPLETE', {
      key: 'iv14-2',
      headers: { ce_time: new Date(Date.now() - 60_000 + 198.5 * 100).toISOString() },
    })
    for (const { partition, record } of records) await append([record], partition)
    await append([mismatched], 2)
    await append([last.record], last.partition)
    await settled()
    t.equal(await level('iv14-1'), 'NONE')
    t.equal(await level('iv14-2'), 'COMPLETE')
    const journal = (await system.records(`${applicationId}-trust-level-journal`)).filter(({ value }) =>
      value?.includes('iv14-1'),
    )
    t.same([...new Set(journal.map(({ partition }) => partition))], [partitionOf('iv14-1', 6)], 'one partition has it')
  })

  t.test('IV-15 a blank alternate id in an update', async (t) => {
    await register(PLUGIN, [{ cmHandle: 'iv15', alternateId: 'alt/1' }])
    for (const update of [{ alternateId: '' }, { alternateId: '   ' }, {}]) {
      const updatedCmHandles = [{ cmHandle: 'iv15', ...update }]
      t.equal((await system.registration({ dmiPlugin: PLUGIN, updatedCmHandles })).status, 200)
      t.match(JSON.parse((await ask('/ncmp/v1/ch/alt%2F1')).text), { cmHandle: 'iv15', alternateId: 'alt/1' })
    }
  })

  t.test('TS-01 a record timestamp of -1 is arrival', async (t) => {
    await register(PLUGIN, ['ts01'])
    const before = await metric('pulsefold_fold_events_total', 'replaced_event_times')
    const sentAt = Date.now()
    await append([heartbeat('ts01', 'NONE', { timestamp: -1 })])
    await levelIs('ts01', 'NONE')
    t.equal(await metric('pulsefold_fold_events_total', 'replaced_event_times'), before + 1, 'it is counted')
    const { trustEvidence } = await system.json<{ trustEvidence: { ownSince: string; lastHeartbeat: string } }>(
      '/ncmp/v1/ch/ts01?evidence=true',
    )
    for (const time of [trustEvidence.ownSince, trustEvidence.lastHeartbeat]) {
      t.ok(Date.parse(time) >= sentAt - 1000 && Date.parse(time) <= Date.now() + 1000, `${time} is about now`)
    }
    await append([heartbeat('ts01', 'COMPLETE')])
    t.ok(await levelIs('ts01', 'COMPLETE'), 'normal records follow')
  })

  t.test('TS-02 one record dated ten years ahead', async (t) => {
    await register(PLUGIN, ['ts02-1', 'ts02-2', 'ts02-3'])
    const tenYears = Date.now() + 10 * 365 * 86_400_000
    const ahead = new Date(tenYears).toISOString()
    for (const [id, parts] of [
      ['ts02-1', { timestamp: tenYears }],
      ['ts02-3', { headers: { ce_time: ahead } }],
    ] as const) {
      await append([heartbeat(id, 'COMPLETE', parts)])
      await settled()
      await append([heartbeat(id, 'NONE'), heartbeat('ts02-2', 'NONE')])
      t.ok(await levelIs(id, 'NONE'))
      t.ok(await levelIs('ts02-2', 'NONE'))
    }
  })

  t.test('OR-01 an older heartbeat arrives after a newer one', async (t) => {
    await register(PLUGIN, ['or01'])
    const start = Date.now() - 60_000
    const at = (seconds: number): { headers: { ce_time: string } } => ({
      headers: { ce_time: new Date(start + seconds * 1000).toISOString() },
    })
    const late = await metric('pulsefold_fold_events_total', 'late_heartbeats')
    await append([heartbeat('or01', 'NONE', at(10)), heartbeat('or01', 'COMPLETE', at(5))])
    await settled()
    t.equal(await level('or01'), 'NONE')
    t.equal(await metric('pulsefold_fold_events_total', 'late_heartbeats'), late + 1)
    await append([heartbeat('or01', 'COMPLETE', at(11))])
    await levelIs('or01', 'COMPLETE')
    const notices = await until('both notices', async () => {
      const found = await system.notices('or01')
      return found.length >= 2 && found
    })
    t.same(notices, ['or01 COMPLETE>NONE', 'or01 NONE>COMPLETE'])
  })

  t.test('OR-05 a heartbeat that comes before its registration', async (t) => {
    await append([heartbeat('or05', 'NONE')])
    await settled()
    const { status, text } = await ask('/ncmp/v1/ch/or05')
    t.equal(status, 404)
    t.match((JSON.parse(text) as { details: string }).details, /pending/)
    await register(PLUGIN, [{ cmHandle: 'or05', trustLevel: 'COMPLETE' }])
    t.equal(await level('or05'), 'NONE')
    const again = await system.registration({ dmiPlugin: PLUGIN, createdCmHandles: [{ cmHandle: 'or05' }] })
    t.match(JSON.parse(again.text), { failedCreatedCmHandles: [{ cmHandle: 'or05', errorCode: '109' }] })
    t.equal(await level('or05'), 'NONE')
  })

  t.test('ME-10 heartbeats far larger than expected', async (t) => {
    await register(PLUGIN, ['me10-1', 'me10-2'])
    const nine = JSON.stringify({ trustlevel: 'NONE', padding: 'x'.repeat(9 * 1024 * 1024) })
    await t.rejects(append([heartbeat('me10-1', '', { value: nine })]), { message: /larg|takes|bytes/ })
    const headers = {
      'ce-specversion': '1.0',
      'ce-id': 'me10-1',
      'ce-source': 'test',
      'ce-type': 'org.onap.cm.events.trustlevel-notification',
      'content-type': 'application/json',
    }
    const refused = await ask('/events', { body: nine, headers })
    t.match(JSON.parse(refused.text), { status: 413, message: /at most 1048576/ })

    const large = `{"trustlevel":${'x'.repeat(900 * 1024)}`
    const [letter] = await send([heartbeat('me10-1', '', { value: large }), heartbeat('me10-2', 'NONE')], 1)
    t.match(letter, { code: 'MALFORMED_JSON', '__pulsefold.short-form': /^9\d{5}$/ })
    t.equal(letter!.value, large.slice(0, 4096))
    t.ok(await levelIs('me10-2', 'NONE'))
    t.equal(await level('me10-1'), 'COMPLETE')
  })
}
