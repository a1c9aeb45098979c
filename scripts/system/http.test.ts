import { gzipSync } from 'node:zlib'
import t from 'tap'
import type { Test } from 'tap'
import { heartbeat, PLUGIN, startSystem } from './fixtures.js'
import type { Level } from './http-client.js'
import { until } from './until.js'

const system = await startSystem(t)
const { ask, json, level, levelIs, register, registration, remove, search, searchLevel } = system

const SEARCHES = [
  '/ncmp/v1/ch/id-searches',
  '/ncmp/v1/ch/searches',
  '/ncmp/v2/ch/searches',
  '/ncmpInventory/v1/ch/searches',
  '/ncmpInventory/v1/ch/searchCmHandles',
  '/ncmpInventory/v2/ch/searches',
]

async function emptyParameters(t: Test, handles: number): Promise<void> {
  for (const path of SEARCHES) {
    for (const body of ['{}', '{"cmHandleQueryParameters":[]}']) {
      const { status, text } = await ask(path, { body, headers: { 'content-type': 'application/json' } })
      t.equal(status, 200, `${path} ${body}`)
      t.equal((JSON.parse(text) as unknown[]).length, handles)
    }
    const parameters = (conditionName: string, conditionParameters: unknown): string =>
      JSON.stringify({ cmHandleQueryParameters: [{ conditionName, conditionParameters }] })
    for (const body of [
      '[]',
      'null',
      '',
      parameters('hasNothing', [{ a: 'b' }]),
      parameters('hasAllProperties', []),
      parameters('hasAllProperties', [{}]),
      parameters('hasAllProperties', [{ '': 'b' }]),
      parameters('cmHandleWithTrustLevel', [{ trustLevel: 'POOR' }]),
      parameters('cmHandleWithTrustLevel', [{ trustLevel: 'complete' }]),
      parameters('cmHandleWithTrustLevel', [{ trustLevel: '' }]),
      parameters('cmHandleWithTrustLevel', [{ trustLevel: 'NONE' }, { trustLevel: 'COMPLETE' }]),
      parameters('hasAllModules', [{ moduleName: 'm' }]),
    ]) {
      const { status, text } = await ask(path, { body, headers: { 'content-type': 'application/json' } })
      t.equal(status, 400, `${path} ${body}`)
      t.match(JSON.parse(text), { status: '400 BAD_REQUEST', message: /\S/ })
    }
  }
}

t.test('HT-09 empty search parameters, on an empty system', (t) => emptyParameters(t, 0))

t.test('HT-09 empty search parameters, with ten devices', async (t) => {
  const ids = Array.from({ length: 10 }, (_, i) => `ht09-${i}`)
  await register(PLUGIN, ids)
  await emptyParameters(t, 10)
  await remove(PLUGIN, ids)
})

t.test('CSIT cps-trust-level: registration with levels, first notice, search', async (t) => {
  const handles = [
    { cmHandle: 'CH-1', trustLevel: 'COMPLETE' },
    { cmHandle: 'CH-2', trustLevel: 'COMPLETE' },
    { cmHandle: 'CH-3' },
    { cmHandle: 'CH-4', trustLevel: 'NONE' },
  ] as const
  t.equal((await registration({ dmiPlugin: PLUGIN, createdCmHandles: handles })).status, 200)
  const [notice] = await until('the first notice', async () => {
    const records = await system.records('ncmp-inventory-events')
    return records.length > 0 && records
  })
  t.equal(notice?.key, 'CH-4')
  t.match(notice?.headers, {
    ce_specversion: '1.0',
    ce_source: 'NCMP',
    ce_type: 'org.onap.cps.ncmp.events.avc.ncmp_to_client.AvcEvent',
    ce_dataschema: 'urn:cps:org.onap.cps.ncmp.events:inventory-event:1.0.0',
    ce_correlationid: 'CH-4',
    ce_id: /^[0-9a-f]{8}-[0-9a-f]{4}-5/,
  })
  t.equal(
    notice?.value?.toString(),
    '{"data":{"attributeValueChange":[{"attributeName":"trustLevel","newAttributeValue":"NONE"}]}}',
  )
  const found = await searchLevel('COMPLETE')
  t.same(
    handles.map(({ cmHandle }) => found.includes(cmHandle)),
    [true, true, true, false],
  )
  await remove(PLUGIN, ['CH-1', 'CH-2', 'CH-3', 'CH-4'])
  t.same(await system.notices(), ['CH-4 >NONE'], 'removal is not announced')
})

t.test('CSIT cm-handle-query: by property, with {}, with an empty property name', async (t) => {
  await register(PLUGIN, [{ cmHandle: 'ietfYang', publicCmHandleProperties: { Contact: 'storm@bookstore.com' } }])
  const byProperty = [{ conditionName: 'hasAllProperties', conditionParameters: [{ Contact: 'storm@bookstore.com' }] }]
  t.same(await search(byProperty), ['ietfYang'])
  t.same(await search(), ['ietfYang'])
  const body = { cmHandleQueryParameters: [{ conditionName: 'hasAllProperties', conditionParameters: [{ '': 'x' }] }] }
  t.equal((await ask('/ncmp/v1/ch/id-searches', { body })).status, 400)
  await remove(PLUGIN, ['ietfYang'])
})

t.test('CSIT cps-model-sync: create, read, update, remove', async (t) => {
  const ids = ['sync-1', 'sync-2']
  await register(
    PLUGIN,
    ids.map((cmHandle) => ({ cmHandle, publicCmHandleProperties: { Contact: 'a' } })),
  )
  const properties = async (id: string): Promise<unknown> =>
    (await json<{ publicCmHandleProperties: unknown }>(`/ncmp/v1/ch/${id}/properties`)).publicCmHandleProperties
  t.same(await properties('sync-1'), [{ Contact: 'a' }])
  const updatedCmHandles = [{ cmHandle: 'sync-1', publicCmHandleProperties: { Contact: 'b' } }]
  t.equal((await registration({ dmiPlugin: PLUGIN, updatedCmHandles })).status, 200)
  t.same(await properties('sync-1'), [{ Contact: 'b' }])
  t.match(await json('/ncmp/v1/ch/sync-1/state'), { state: { cmHandleState: 'READY' }, trustLevel: 'COMPLETE' })
  await remove(PLUGIN, ids)
  t.equal(await level('sync-1'), 404)
})

t.test('CSIT actuator: health says UP', async (t) => {
  const { status, text } = await ask('/actuator/health')
  t.equal(status, 200)
  t.match(text, 'UP')
  t.notMatch(text, 'DOWN')
})

t.test('HT-01 alternate ids with slash, percent, plus and question mark', async (t) => {
  const alternateIds = ['/SubNetwork=1/Node=a', 'a%2Fb', 'a/b', 'a b+c', 'a?b#c']
  await register(
    PLUGIN,
    alternateIds.map((alternateId, i) => ({ cmHandle: `ht01-${i}`, alternateId })),
  )
  for (const [i, alternateId] of alternateIds.entries()) {
    const found = await json(`/ncmp/v1/ch/${encodeURIComponent(alternateId)}`)
    t.match(found, { cmHandle: `ht01-${i}`, alternateId })
  }
  for (const cmHandle of ['/SubNetwork=1/Node=a', 'a%2Fb', 'a b+c', 'a?b#c']) {
    const { status, text } = await registration({ dmiPlugin: PLUGIN, createdCmHandles: [{ cmHandle }] })
    t.equal(status, 500)
    t.match(JSON.parse(text), { failedCreatedCmHandles: [{ cmHandle, errorCode: '110' }] })
  }
})

t.test('HT-02 long ids in the path, as cm handle and as alternate id', async (t) => {
  const ids = [100, 101, 255].map((length) => 'x'.repeat(length)).concat('设'.repeat(60))
  await register(PLUGIN, ids)
  const alternateIds = [100, 101, 255, 2048].map((length) => `/${'y'.repeat(length - 1)}`).concat('备'.repeat(60))
  await register(
    PLUGIN,
    alternateIds.map((alternateId, i) => ({ cmHandle: `ht02-${i}`, alternateId })),
  )
  for (const id of ids) t.match(await json(`/ncmp/v1/ch/${encodeURIComponent(id)}`), { cmHandle: id })
  for (const [i, id] of alternateIds.entries()) {
    t.match(await json(`/ncmp/v1/ch/${encodeURIComponent(id)}`), { cmHandle: `ht02-${i}` })
  }
  t.ok([400, 414].includes((await ask(`/ncmp/v1/ch/${'z'.repeat(5000)}`)).status))
  await system.append([heartbeat(ids[2]!, 'NONE'), heartbeat('x'.repeat(256), 'NONE')])
  t.ok(await levelIs(ids[2]!, 'NONE'), '255 characters of ce_id are taken')
  const letter = await until('256 are not', async () =>
    (await system.deadLetters()).find(({ headers }) => headers['__streams.errors.exception'] === 'ID_TOO_LONG'),
  )
  t.equal(letter.headers['ce_id']?.length, 256)
})

t.test('HT-04 broken, empty, NUL and dot-dot ids in the path', async (t) => {
  for (const [id, statuses] of [
    ['%E0%A4%A', [400]],
    ['', [400, 404]],
    ['a%00b', [400, 404]],
    ['..%2f..%2fx', [400, 404]],
  ] as const) {
    for (const path of [`/ncmp/v1/ch/${id}`, `/ncmp/v2/ch/${id}`, `/ncmp/v1/ch/${id}/state`]) {
      const { status, text } = await ask(path)
      t.ok((statuses as readonly number[]).includes(status), `${path}: ${status}`)
      t.match(JSON.parse(text), { status: /^4\d\d / })
    }
  }
})

t.test('HT-12 one error shape a surface, without insides', async (t) => {
  const large = JSON.stringify({ padding: 'x'.repeat(1_100_000) })
  const header = { 'content-type': 'application/json' }
  const ncmp = [
    [400, await ask('/ncmp/v1/ch/id-searches', { body: '{', headers: header })],
    [404, await ask('/ncmp/v1/ch/nobody')],
    [413, await ask('/ncmp/v1/ch/searches', { body: large, headers: header })],
    [415, await ask('/ncmp/v1/ch/searches', { body: 'x', headers: { 'content-type': 'text/plain' } })],
    [
      503,
      await ask('/ncmp/v1/ch/nobody', {
        headers: {
          'x-pulsefold-min-position': [0, 1, 2].map((p) => `pulsefold-trust-level-journal/${p}/999999`).join(),
        },
      }),
    ],
  ] as const
  const own = [
    [400, await ask('/events', { body: '{', headers: { 'content-type': 'application/cloudevents+json' } })],
    [404, await ask('/ops/topics/none/records')],
    [
      413,
      await ask('/events', {
        body: Buffer.alloc(33 * 1024 * 1024, ' '),
        headers: { 'content-type': 'application/cloudevents-batch+json' },
      }),
    ],
    [415, await ask('/events', { body: 'x', headers: { 'content-type': 'text/plain', 'content-encoding': 'br' } })],
  ] as const
  for (const [status, answer] of [...ncmp, ...own]) {
    t.equal(answer.status, status, answer.text)
    t.notMatch(answer.text, /\bat \S+:\d+|\.[jt]s\b|node_modules|\/tmp|rocksdb/i)
  }
  for (const [status, { text }] of ncmp) {
    t.match(JSON.parse(text), { status: new RegExp(`^${status} [A-Z_]+$`), message: String, details: String })
  }
  for (const [status, { text }] of own) t.match(JSON.parse(text), { status, code: /^[A-Z_]+$/, message: String })
  t.match(ncmp[4][1].headers, { 'retry-after': /^\d+$/ })
})

t.test('SE-02 devices called like members of every object', async (t) => {
  const ids = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']
  await register(PLUGIN, ids)
  await system.append(ids.map((id) => heartbeat(id, 'NONE')))
  for (const id of ids) {
    t.ok(await levelIs(id, 'NONE'))
    t.match(await json(`/ncmp/v1/ch/${id}`), { cmHandle: id })
  }
  const found = await searchLevel('NONE')
  for (const id of ids) t.ok(found.includes(id))
  t.equal(await level('valueOf'), 404)
  await remove(PLUGIN, ids)
  for (const id of ids) t.equal(await level(id), 404)
  for (const body of ['{"__proto__":{"x":1}}', '{"constructor":{"prototype":{"x":1}}}']) {
    for (const path of [...SEARCHES, '/ncmpInventory/v1/ch', '/events']) {
      const type = path === '/events' ? 'application/cloudevents+json' : 'application/json'
      t.equal((await ask(path, { body, headers: { 'content-type': type } })).status, 400, `${path} ${body}`)
    }
  }
  t.equal(({} as { x?: unknown }).x, undefined)
})

t.test('SE-09 oversized or deeply nested request bodies', async (t) => {
  const headers = { 'content-type': 'application/json' }
  const conditions = Array.from({ length: 100_000 }, () => ({}))
  const zeros = gzipSync(Buffer.alloc(64 * 1024 * 1024))
  for (const [what, statuses, asked] of [
    ['1.1 MB', [413], { body: JSON.stringify({ padding: 'x'.repeat(1_100_000) }), headers }],
    ['100,000 conditions', [400, 413], { body: JSON.stringify({ cmHandleQueryParameters: conditions }), headers }],
    ['50,000 levels', [400], { body: '['.repeat(50_000) + ']'.repeat(50_000), headers }],
    ['gzip', [413, 415], { body: zeros, headers: { ...headers, 'content-encoding': 'gzip' } }],
  ] as const) {
    const { status } = await ask('/ncmp/v1/ch/searches', asked)
    t.ok((statuses as readonly number[]).includes(status), `${what}: ${status}`)
  }
  t.equal((await ask('/ops/health/live')).status, 200)
})

t.test('a read with x-pulsefold-min-position knows of the events behind it', async (t) => {
  const ids = Array.from({ length: 20 }, (_, i) => `ryw-${i}`)
  await register(PLUGIN, ids)
  for (let round = 0; round < 20; round++) {
    const wanted: Level = round % 2 === 0 ? 'NONE' : 'COMPLETE'
    const position = await system.report(ids.map((id) => [id, wanted] as const))
    const headers = { 'x-pulsefold-min-position': position }
    const levels = await Promise.all(ids.map((id) => level(id, headers)))
    t.same([...new Set(levels)], [wanted])
    const body = {
      cmHandleQueryParameters: [
        { conditionName: 'cmHandleWithTrustLevel', conditionParameters: [{ trustLevel: wanted }] },
      ],
    }
    const found = await json<string[]>('/ncmp/v1/ch/id-searches', { body, headers })
    t.ok(ids.every((id) => found.includes(id)))
  }
})

t.test('a handle that no plugin is named for is refused, so search and read agree', async (t) => {
  const { status } = await registration({ createdCmHandles: [{ cmHandle: 'orphan' }] })
  t.equal(status, 400)
  t.equal(await level('orphan'), 404)
  t.notOk([...(await searchLevel('NONE')), ...(await searchLevel('COMPLETE'))].includes('orphan'))
})

t.test('removed and registered again, a handle starts COMPLETE', async (t) => {
  await register(PLUGIN, [{ cmHandle: 'again', trustLevel: 'NONE' }])
  await remove(PLUGIN, ['again'])
  await system.report([['again', 'NONE']], new Date(Date.now() - 60_000).toISOString())
  await system.settled()
  await register(PLUGIN, ['again'])
  t.equal(await level('again'), 'COMPLETE', 'also after a late report from before the removal')
})

t.test('a duplicate in a registration leaves all the others registered with their levels', async (t) => {
  await register(PLUGIN, ['dup-1'])
  const createdCmHandles = [
    { cmHandle: 'dup-0', trustLevel: 'NONE' },
    { cmHandle: 'dup-1', trustLevel: 'NONE' },
    { cmHandle: 'dup-2' },
  ]
  const { status, text } = await registration({ dmiPlugin: PLUGIN, createdCmHandles })
  t.equal(status, 500)
  t.match(JSON.parse(text), { failedCreatedCmHandles: [{ cmHandle: 'dup-1', errorCode: '109' }] })
  t.same([await level('dup-0'), await level('dup-1'), await level('dup-2')], ['NONE', 'COMPLETE', 'COMPLETE'])
})
