import t from 'tap'
import type { Test } from 'tap'
import type { LightMyRequestResponse } from 'fastify'
import { testApi } from '../test-api.js'
import type { TestApi } from '../test-api.js'

const PLUGIN = 'http://dmi-1:8080'

async function apiWith(t: Test, ...createdCmHandles: object[]): Promise<TestApi> {
  const api = await testApi(t)
  const payload = { dmiPlugin: PLUGIN, createdCmHandles }
  const answer = await api.server.app.inject({ method: 'POST', url: '/ncmpInventory/v1/ch', payload })
  t.equal(answer.statusCode, 200, answer.body)
  return api
}

const state = {
  cmHandleState: 'READY',
  lastUpdateTime: '2026-11-30T06:26:00.000+0000',
  dataSyncEnabled: false,
  dataSyncState: { operational: { syncState: 'NONE_REQUESTED' } },
}
const chOne = {
  cmHandle: 'ch-1',
  alternateId: '/SubNetwork=1/Node=a',
  moduleSetTag: ' tag ',
  publicCmHandleProperties: { segmentId: 7 },
  cmHandleProperties: { secret: 'x' },
}

t.test('a handle in the shapes of v1, v2, state and properties', async (t) => {
  const { server } = await apiWith(t, chOne)
  const get = async (path: string): Promise<unknown> => (await server.app.inject(`/ncmp/${path}`)).json()
  const texts = {
    alternateId: '/SubNetwork=1/Node=a',
    moduleSetTag: 'tag',
    dataProducerIdentifier: '',
    cmHandleStatus: '',
  }
  t.strictSame(await get('v1/ch/ch-1'), {
    cmHandle: 'ch-1',
    publicCmHandleProperties: [{ segmentId: '7' }],
    state,
    trustLevel: 'COMPLETE',
    ...texts,
  })
  t.strictSame(await get('v2/ch/ch-1'), { cmHandle: 'ch-1', trustLevel: 'COMPLETE', ...texts })
  t.strictSame(await get('v1/ch/ch-1/state'), { state, trustLevel: 'COMPLETE' })
  t.strictSame(await get('v1/ch/ch-1/properties'), { publicCmHandleProperties: [{ segmentId: '7' }] })
})

t.test('evidence comes when asked for', async (t) => {
  const { server } = await apiWith(t, chOne)
  for (const version of ['v1', 'v2']) {
    const answer = await server.app.inject(`/ncmp/${version}/ch/ch-1?evidence=true`)
    t.strictSame(answer.json<{ trustEvidence: object }>().trustEvidence, {
      ownLevel: 'COMPLETE',
      ownSince: '2026-11-30T06:26:00.000Z',
      plugin: PLUGIN,
      pluginLevel: 'COMPLETE',
      decidedBy: { topic: 'test-trust-level-journal', partition: 1, offset: 42 },
    })
    const plain = await server.app.inject(`/ncmp/${version}/ch/ch-1?evidence=false`)
    t.notMatch(plain.body, /trustEvidence/)
  }
  t.equal((await server.app.inject('/ncmp/v1/ch/ch-1?evidence=maybe')).statusCode, 400)
})

t.test('the longest alternate id above a name leads to its handle, on GET ch/{ref} only', async (t) => {
  const { server } = await apiWith(t, chOne, { cmHandle: 'ch-2', alternateId: '/SubNetwork=1' })
  const get = async (path: string): Promise<LightMyRequestResponse> => server.app.inject(path)
  const cases: readonly (readonly [reference: string, cmHandle: string | null])[] = [
    ['/SubNetwork=1/Node=a', 'ch-1'],
    ['/SubNetwork=1/Node=a/Cell=3/Carrier=1', 'ch-1'],
    ['/SubNetwork=1/Node=a/Cell=3#attribute/x', 'ch-1'],
    ['/SubNetwork=1/Node=b', 'ch-2'],
    ['/SubNetwork=1', 'ch-2'],
    ['/SubNetwork=12', null],
    ['ch-2', 'ch-2'],
    ['ch-2/x', null],
    ['', null],
    ['#', null],
    ['/', null],
  ]
  for (const [reference, cmHandle] of cases) {
    const encoded = encodeURIComponent(reference)
    const found = await get(`/ncmp/v1/ch/${encoded}`)
    t.equal(found.statusCode, cmHandle === null ? 404 : 200, reference)
    if (cmHandle !== null) t.equal(found.json<{ cmHandle: string }>().cmHandle, cmHandle, reference)
    const byName = await get(`/ncmpInventory/v1/ch?distinguishedName=${encoded}`)
    t.equal(byName.statusCode, cmHandle === null ? (reference === '' ? 400 : 404) : 200, `${reference} by name`)
  }
  const child = encodeURIComponent('/SubNetwork=1/Node=a/Cell=3')
  t.equal((await get(`/ncmp/v1/ch/${child}/state`)).statusCode, 404)
  t.equal((await get(`/ncmp/v1/ch/${child}/properties`)).statusCode, 404)
  t.equal((await get(`/ncmp/v1/ch/${encodeURIComponent('/SubNetwork=1/Node=a')}/state`)).statusCode, 200)
})

t.test(
  "an alternate id that is claimed only, or kept by its home after the handle's row lost it, is not found",
  async (t) => {
    const { server, streams } = await apiWith(t, { cmHandle: 'ch-1' })
    streams.alternateIds.set('claimed', 'ch-1').set('dangling', 'gone')
    for (const reference of ['claimed', 'dangling']) {
      t.equal((await server.app.inject(`/ncmp/v1/ch/${reference}`)).statusCode, 404, reference)
      t.equal((await server.app.inject(`/ncmp/v1/ch/${reference}/state`)).statusCode, 404, reference)
    }
  },
)

t.test('the inventory shows additional properties when asked', async (t) => {
  const { server } = await apiWith(t, chOne)
  const url = '/ncmpInventory/v1/ch?distinguishedName=ch-1'
  t.notMatch((await server.app.inject(url)).json(), { cmHandleProperties: {} })
  t.match((await server.app.inject(`${url}&outputDmiProperties=true`)).json(), { cmHandleProperties: { secret: 'x' } })
})

t.test('an unknown handle is 404, and the details say that a level is pending', async (t) => {
  const { server, streams } = await apiWith(t)
  streams.pending.set('ch-9', Date.UTC(2026, 10, 30, 6))
  const pending = await server.app.inject('/ncmp/v1/ch/ch-9')
  t.strictSame(pending.json(), {
    status: '404 NOT_FOUND',
    message: 'Cm handle not found',
    details:
      'No cm handles found with reference ch-9; a trust level reported for it is pending since 2026-11-30T06:00:00.000Z',
  })
  const unknown = await server.app.inject('/ncmp/v1/ch/ch-8/state')
  t.equal(unknown.statusCode, 404)
  t.equal(unknown.json<{ details: string }>().details, 'No cm handles found with reference ch-8')
})

t.test('data sync is set, by id', async (t) => {
  const { server, streams } = await apiWith(t, chOne)
  const put = async (query: string, id = 'ch-1'): Promise<LightMyRequestResponse> =>
    server.app.inject({
      method: 'PUT',
      url: `/ncmp/v1/ch/${id}/data-sync${query}`,
      headers: { 'idempotency-key': 'key-1', 'x-pulsefold-actor': 'op', 'x-pulsefold-reason': 'test' },
    })
  const answer = await put('?dataSyncEnabled=true')
  t.equal(answer.statusCode, 200)
  t.equal(answer.body, '')
  t.match(answer.headers['x-pulsefold-position'], /^test-trust-level-journal\/\d\/\d+$/)
  t.match(streams.commands.at(-1)?.options, { commandId: 'key-1', actor: 'op', reason: 'test' })
  const shown = (await server.app.inject('/ncmp/v1/ch/ch-1/state')).json<{ state: object }>()
  t.match(shown.state, { dataSyncEnabled: true, dataSyncState: { operational: { syncState: 'UNSYNCHRONIZED' } } })
  t.equal((await put('?dataSyncEnabled=false')).statusCode, 200)
  t.strictSame((await server.app.inject('/ncmp/v1/ch/ch-1/state')).json<{ state: object }>().state, state)
  t.equal((await put('?dataSyncEnabled=true', 'ch-9')).statusCode, 404)
  t.equal((await put('?dataSyncEnabled=true', 'bad%20id')).statusCode, 404)
  t.equal((await put('')).statusCode, 400)
  t.equal((await put('?dataSyncEnabled=yes')).statusCode, 400)
})

t.test('an open outcome is 504 that says how to ask again, a command not taken 503', async (t) => {
  const { server, streams } = await apiWith(t, chOne)
  const put = { method: 'PUT', url: '/ncmp/v1/ch/ch-1/data-sync?dataSyncEnabled=true' } as const
  streams.commandFailure = () => 'outcomeOpen'
  const open = await server.app.inject({ ...put, headers: { 'idempotency-key': 'key-7' } })
  t.equal(open.statusCode, 504)
  t.match(open.json(), { status: '504 GATEWAY_TIMEOUT', details: /Idempotency-Key key-7/ })
  streams.commandFailure = () => 'unavailable'
  const refused = await server.app.inject(put)
  t.equal(refused.statusCode, 503)
  t.equal(refused.headers['retry-after'], '1')
  t.notMatch(refused.body, /kafka-7|var.lib/)
})

t.test('answers say where they come from, and requests what they demand', async (t) => {
  const { server, streams } = await apiWith(t, chOne)
  const headers = {
    'x-pulsefold-min-position': 'test-trust-level-journal/0/7, test-trust-level-journal/2/9',
    'x-pulsefold-max-staleness-ms': '500',
  }
  const answer = await server.app.inject({ url: '/ncmp/v1/ch/ch-1', headers })
  t.match(answer.headers, {
    'x-pulsefold-position': /^test-trust-level-journal\/\d\/\d+$/,
    'x-pulsefold-role': 'active',
    'x-pulsefold-staleness-ms': '0',
  })
  const { signal, ...demanded } = streams.demands.at(-1)!
  t.ok(signal, 'ends with the caller')
  t.strictSame(demanded, {
    minPositions: [
      { topic: 'test-trust-level-journal', partition: 0, offset: 7 },
      { topic: 'test-trust-level-journal', partition: 2, offset: 9 },
    ],
    maxStalenessMs: 500,
  })
  const wrong: readonly (readonly [name: string, value: string, details: RegExp])[] = [
    ['min-position', 'topic/x/1', /"topic\/x\/1" is not topic\/partition\/offset/],
    ['min-position', 'test-trust-level-journal/0/7,', /"" is not topic/],
    ['min-position', 'dmi-device-heartbeat/0/7', /is in no journal; these are: test-trust-level-journal/],
    ['min-position', 'test-trust-level-journal/3/7', /is in none of the 3 partitions/],
    ['max-staleness-ms', '-1', /is not a number of ms/],
  ]
  for (const [name, value, details] of wrong) {
    const refused = await server.app.inject({ url: '/ncmp/v1/ch/ch-1', headers: { [`x-pulsefold-${name}`]: value } })
    t.match([refused.statusCode, refused.json()], [400, { details }], value)
  }
})

t.test('HT-06 a standby answers for what it knows, and never says that something does not exist', async (t) => {
  const { server, streams } = await apiWith(t, { ...chOne, alternateId: '/area=1' })
  streams.copy = { role: 'standby', stalenessMs: 700.2 }
  for (const path of ['ch-1', encodeURIComponent('/area=1/cell=2')]) {
    t.match(await server.app.inject(`/ncmp/v1/ch/${path}`), {
      statusCode: 200,
      headers: { 'x-pulsefold-role': 'standby', 'x-pulsefold-staleness-ms': '701' },
    })
  }
  for (const path of ['v1/ch/unknown', 'v1/ch/unknown/state', 'v1/ch/unknown/properties', 'v2/ch/%2Farea=2']) {
    const answer = await server.app.inject(`/ncmp/${path}`)
    t.match(answer, { statusCode: 503, headers: { 'retry-after': '1' } }, path)
    t.match(answer.json(), { details: 'the state asked for is moving between instances' })
  }
})

t.test('HT-01 alternate ids with slash, percent, plus, blank and question mark, encoded once', async (t) => {
  const ids = ['/SubNetwork=1/Node=a', 'a%2Fb', 'a b+c', 'a?b#c', 'a/b']
  const { server } = await apiWith(t, ...ids.map((alternateId, i) => ({ cmHandle: `dev-${i}`, alternateId })))
  for (const [i, alternateId] of ids.entries()) {
    for (const path of [`v1/ch/${encodeURIComponent(alternateId)}`, `v2/ch/${encodeURIComponent(alternateId)}`]) {
      const answer = await server.app.inject(`/ncmp/${path}`)
      t.match(answer.json(), { cmHandle: `dev-${i}`, alternateId }, path)
    }
    const stateAnswer = await server.app.inject(`/ncmp/v1/ch/${encodeURIComponent(alternateId)}/state`)
    t.equal(stateAnswer.statusCode, 200)
  }
})

t.test('HT-02 ids to 255 and alternate ids to 2,048 characters in the path, and no longer', async (t) => {
  const ids = ['x'.repeat(100), 'x'.repeat(101), 'x'.repeat(255), '网'.repeat(60), '网'.repeat(255)]
  const alternateIds = ['/a=' + 'y'.repeat(2045), '网'.repeat(2048), '😀'.repeat(1024)]
  const { server } = await apiWith(
    t,
    ...ids.map((cmHandle) => ({ cmHandle })),
    ...alternateIds.map((alternateId, i) => ({ cmHandle: `long-${i}`, alternateId })),
  )
  for (const reference of [...ids, ...alternateIds]) {
    for (const path of ['', '/state', '/properties']) {
      const answer = await server.app.inject(`/ncmp/v1/ch/${encodeURIComponent(reference)}${path}`)
      t.equal(answer.statusCode, 200, `${reference.slice(0, 3)}… ${reference.length}${path}`)
    }
  }
  for (const reference of ['x'.repeat(2049), 'x'.repeat(5000), '网'.repeat(5000)]) {
    const answer = await server.app.inject(`/ncmp/v1/ch/${encodeURIComponent(reference)}`)
    t.equal(answer.statusCode, 414)
    t.match(answer.json(), { status: '414 URI_TOO_LONG' })
  }
})

t.test('HT-04 broken, empty, NUL and dot-dot ids', async (t) => {
  const { server } = await apiWith(t, chOne)
  const cases: readonly (readonly [path: string, status: number])[] = [
    ['/ncmp/v1/ch/%E0%A4%A', 400],
    ['/ncmp/v1/ch/', 404],
    ['/ncmp/v1/ch', 404],
    ['/ncmp/v1/ch//state', 404],
    ['/ncmp/v1/ch/a%00b', 404],
    ['/ncmp/v1/ch/..%2f..%2fx', 404],
    ['/ncmp/v1/ch/../../x', 404],
  ]
  for (const [path, status] of cases) {
    const answer = await server.app.inject(path)
    t.equal(answer.statusCode, status, path)
    t.match(answer.json(), { status: new RegExp(`^${status} `) }, path)
  }
})

t.test('SE-02 handles named like members of every object', async (t) => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']
  const { server } = await apiWith(t, ...names.map((cmHandle) => ({ cmHandle, alternateId: `alt/${cmHandle}` })))
  for (const cmHandle of names) {
    t.match((await server.app.inject(`/ncmp/v1/ch/${cmHandle}`)).json(), { cmHandle, trustLevel: 'COMPLETE' })
    t.match((await server.app.inject(`/ncmp/v1/ch/alt%2F${cmHandle}`)).json(), { cmHandle })
  }
  t.equal((await server.app.inject('/ncmp/v1/ch/valueOf')).statusCode, 404)
  const all = await server.app.inject({ method: 'POST', url: '/ncmp/v1/ch/id-searches', payload: {} })
  t.strictSame(all.json<string[]>().sort(), [...names].sort())
  const removal = { dmiPlugin: PLUGIN, removedCmHandles: names }
  const removed = await server.app.inject({ method: 'POST', url: '/ncmpInventory/v1/ch', payload: removal })
  t.equal(removed.statusCode, 200)
  t.equal((await server.app.inject('/ncmp/v1/ch/__proto__')).statusCode, 404)
})

t.test('SE-02 bodies that reach for a prototype are refused', async (t) => {
  const { server } = await apiWith(t)
  const urls = ['/ncmpInventory/v1/ch', '/ncmp/v1/ch/searches', '/ncmp/v1/ch/id-searches']
  for (const url of urls) {
    for (const payload of [
      '{"__proto__":{"x":1}}',
      '{"constructor":{"prototype":{"x":1}}}',
      '{"a":[{"__proto__":1}]}',
    ]) {
      const answer = await server.app.inject({
        method: 'POST',
        url,
        payload,
        headers: { 'content-type': 'application/json' },
      })
      t.equal(answer.statusCode, 400, `${url} ${payload}`)
    }
  }
  t.equal(({} as { x?: number }).x, undefined)
})

t.test('numbers in a registration keep every digit that was sent', async (t) => {
  const { server } = await testApi(t)
  const payload = `{"dmiPlugin":"${PLUGIN}","createdCmHandles":[
    {"cmHandle":12345678901234567890,"publicCmHandleProperties":{"rate":1.50}},{"cmHandle":12345678901234567891}]}`
  const headers = { 'content-type': 'application/json' }
  const answer = await server.app.inject({ method: 'POST', url: '/ncmpInventory/v1/ch', headers, payload })
  t.equal(answer.statusCode, 200, answer.body)
  const first = (await server.app.inject('/ncmp/v1/ch/12345678901234567890')).json<{
    publicCmHandleProperties: object
  }>()
  t.strictSame(first.publicCmHandleProperties, [{ rate: '1.50' }])
  t.equal((await server.app.inject('/ncmp/v1/ch/12345678901234567891')).statusCode, 200)
})
