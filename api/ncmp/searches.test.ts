import t from 'tap'
import type { LightMyRequestResponse } from 'fastify'
import type { Test } from 'tap'
import { manualClock } from '../../common/manual-clock.js'
import { testApi } from '../test-api.js'
import type { TestApi } from '../test-api.js'
import { TEST_TIME } from '../test-streams.js'

const PLUGIN = 'http://dmi-1:8080'

type Body = object | string | null

async function search(api: TestApi, path: string, body: Body = {}): Promise<LightMyRequestResponse> {
  const payload = typeof body === 'string' ? body : JSON.stringify(body)
  const headers = { 'content-type': 'application/json' }
  return api.server.app.inject({ method: 'POST', url: path, payload, headers })
}

async function withHandles(t: Test, count: number, options: Parameters<typeof testApi>[1] = {}): Promise<TestApi> {
  const api = await testApi(t, options)
  for (let i = 0; i < count; i++) {
    const cmHandle = `dev-${String(i).padStart(5, '0')}`
    api.streams.handles.set(cmHandle, {
      cmHandle,
      alternateId: i % 3 === 0 ? '' : `/alt=${i}`,
      moduleSetTag: '',
      dataProducerIdentifier: '',
      cmHandleStatus: '',
      publicProperties: { parity: i % 2 === 0 ? 'even' : 'odd' },
      additionalProperties: { secret: String(i) },
      dataSyncEnabled: false,
      lastUpdateTime: TEST_TIME,
      trustLevel: i % 2 === 0 ? 'NONE' : 'COMPLETE',
      dmiPlugin: PLUGIN,
      dmiDataPlugin: '',
      dmiModelPlugin: '',
      dmiDatajobsReadPlugin: '',
      dmiDatajobsWritePlugin: '',
    })
  }
  return api
}

const condition = (conditionName: string, ...conditionParameters: object[]): object => ({
  cmHandleQueryParameters: [{ conditionName, conditionParameters }],
})
const NONE = condition('cmHandleWithTrustLevel', { trustLevel: 'NONE' })
const ID_SEARCHES = ['/ncmp/v1/ch/id-searches', '/ncmpInventory/v1/ch/searches']
const OBJECT_SEARCHES = [
  '/ncmp/v1/ch/searches',
  '/ncmp/v2/ch/searches',
  '/ncmpInventory/v1/ch/searchCmHandles',
  '/ncmpInventory/v2/ch/searches',
]

t.test('searches answer what meets all conditions', async (t) => {
  const api = await withHandles(t, 30)
  for (const path of ID_SEARCHES) {
    const hits = (await search(api, path, NONE)).json<string[]>()
    t.strictSame(hits.sort(), [...api.streams.handles.keys()].filter((_, i) => i % 2 === 0).sort(), path)
  }
  for (const path of OBJECT_SEARCHES) {
    const hits = (await search(api, path, NONE)).json<{ cmHandle: string; trustLevel: string }[]>()
    t.equal(hits.length, 15, path)
    t.ok(
      hits.every((hit) => hit.trustLevel === 'NONE'),
      path,
    )
    const none = condition('hasAllProperties', { parity: 'neither' })
    t.strictSame((await search(api, path, none)).json(), [], path)
  }
})

t.test('alternate ids come out when asked for, each once, a handle without one by its id', async (t) => {
  const api = await withHandles(t, 6)
  const twin = api.streams.handles.get('dev-00001')
  if (twin !== undefined) api.streams.handles.set('dev-00001', { ...twin, alternateId: 'dev-00000' })
  const asked = (await search(api, '/ncmp/v1/ch/id-searches?outputAlternateId=true')).json<string[]>()
  t.strictSame(asked.sort(), ['/alt=2', '/alt=4', '/alt=5', 'dev-00000', 'dev-00003'])
  for (const value of ['', 'false', undefined]) {
    const query = value === undefined ? '' : `?outputAlternateId=${value}`
    const ids = (await search(api, `/ncmp/v1/ch/id-searches${query}`)).json<string[]>()
    t.strictSame(ids.sort(), [...api.streams.handles.keys()].sort(), query)
  }
  t.equal((await search(api, '/ncmp/v1/ch/id-searches?outputAlternateId=maybe')).statusCode, 400)
  t.equal(
    (await search(api, '/ncmp/v1/ch/searches?outputAlternateId=true')).statusCode,
    200,
    'ignored by object searches',
  )
})

t.test('additional properties come southbound, when asked for', async (t) => {
  const api = await withHandles(t, 1)
  const first = async (path: string): Promise<Record<string, unknown>> =>
    (await search(api, path)).json<Record<string, unknown>[]>()[0] ?? {}
  t.strictSame((await first('/ncmpInventory/v1/ch/searchCmHandles?outputDmiProperties=true'))['cmHandleProperties'], {
    secret: '0',
  })
  t.equal((await first('/ncmpInventory/v2/ch/searches?outputDmiProperties=true'))['dmiProperties'], '{"secret":"0"}')
  for (const path of [...OBJECT_SEARCHES, '/ncmp/v1/ch/searches?outputDmiProperties=true']) {
    t.notMatch(JSON.stringify(await first(path)), /secret/, path)
  }
})

t.test('the handles of a plugin, by its address in any spelling', async (t) => {
  const api = await withHandles(t, 4)
  const get = async (query: string): Promise<LightMyRequestResponse> =>
    api.server.app.inject(`/ncmpInventory/v1/ch/cmHandles${query}`)
  t.equal((await get(`?dmi-plugin-identifier=${encodeURIComponent('HTTP://Dmi-1:8080/')}`)).json<string[]>().length, 4)
  t.strictSame((await get('?dmi-plugin-identifier=unknown')).json(), [])
  t.ok((await get(`?dmi-plugin-identifier=${PLUGIN}&outputAlternateId=true`)).json<string[]>().includes('/alt=1'))
  t.equal((await get('')).statusCode, 400)
})

t.test('HT-09 empty parameters, on an empty system and with handles', async (t) => {
  for (const count of [0, 10]) {
    const api = await withHandles(t, count)
    for (const path of [...ID_SEARCHES, ...OBJECT_SEARCHES]) {
      for (const body of [{}, { cmHandleQueryParameters: [] }]) {
        const answer = await search(api, path, body)
        t.equal(answer.statusCode, 200, `${path} ${JSON.stringify(body)}`)
        t.equal(answer.json<unknown[]>().length, count)
      }
      const wrong: readonly Body[] = [
        '[]',
        'null',
        '',
        '{',
        condition('unknown', { a: 'b' }),
        condition('hasAllProperties'),
        condition('hasAllProperties', {}),
        condition('hasAllModules', { moduleName: 'M1' }),
      ]
      for (const body of wrong) {
        const answer = await search(api, path, body)
        t.equal(answer.statusCode, 400, `${path} ${JSON.stringify(body)}`)
        t.match(answer.json(), { status: '400 BAD_REQUEST', message: /./, details: /./ })
      }
    }
  }
})

function nextOf(answer: LightMyRequestResponse): string | undefined {
  return /^<([^>]+)>; rel="next"$/.exec(String(answer.headers['link'] ?? ''))?.[1]
}

t.test('pages are full, end with the last one, and hold each hit once', async (t) => {
  for (const limit of [1, 2, 7, 30, 59, 60, 61, 100_000]) {
    const api = await withHandles(t, 60)
    for (const path of ['/ncmp/v1/ch/id-searches', '/ncmp/v2/ch/searches']) {
      const seen: string[] = []
      let url: string | undefined = `${path}?limit=${limit}`
      while (url !== undefined) {
        const answer: LightMyRequestResponse = await search(api, url)
        const page = answer
          .json<(string | { cmHandle: string })[]>()
          .map((hit) => (typeof hit === 'string' ? hit : hit.cmHandle))
        url = nextOf(answer)
        if (url !== undefined) t.equal(page.length, limit, 'a page with a next one is full')
        seen.push(...page)
      }
      t.strictSame(seen.sort(), [...api.streams.handles.keys()].sort(), `${path} by ${limit}`)
    }
  }
})

t.test('what matches all the time comes exactly once while others change between pages', async (t) => {
  const api = await withHandles(t, 200)
  const stable = [...api.streams.handles.values()].filter((view, i) => view.trustLevel === 'NONE' && i < 100)
  const seen: string[] = []
  let url: string | undefined = '/ncmp/v1/ch/id-searches?limit=9'
  for (let page = 0; url !== undefined; page++) {
    const answer: LightMyRequestResponse = await search(api, url, NONE)
    seen.push(...answer.json<string[]>())
    url = nextOf(answer)
    for (const view of [...api.streams.handles.values()].slice(100)) {
      const trustLevel = (view.cmHandle.charCodeAt(8) + page) % 2 === 0 ? 'NONE' : 'COMPLETE'
      api.streams.handles.set(view.cmHandle, { ...view, trustLevel })
    }
  }
  t.equal(new Set(seen).size, seen.length)
  t.ok(stable.every((view) => seen.includes(view.cmHandle)))
})

t.test('later pages come from no older state than the first', async (t) => {
  const api = await withHandles(t, 20)
  const first = await search(api, '/ncmp/v1/ch/id-searches?limit=5')
  const positions = String(first.headers['x-pulsefold-position']).split(',')
  t.equal(positions.length, 3, 'one position a partition, even of those without a hit in the page')
  api.streams.demands.length = 0
  const second = await search(api, nextOf(first) ?? '')
  t.equal(second.statusCode, 200)
  const demanded = api.streams.demands[0]?.minPositions ?? []
  t.strictSame(
    demanded.map(({ topic, partition, offset }) => `${topic}/${partition}/${offset}`).sort(),
    positions.sort(),
  )
})

t.test('a cursor that is not ours, of another search, or too old is 400, and so is a wrong limit', async (t) => {
  const clock = manualClock()
  const api = await withHandles(t, 20, { clock })
  const next = nextOf(await search(api, '/ncmp/v1/ch/id-searches?limit=5', NONE)) ?? ''
  const after = new URL(next, 'http://localhost').searchParams.get('after') ?? ''
  const forged = (change: (cursor: Record<string, unknown>) => void): string => {
    const cursor = JSON.parse(Buffer.from(after, 'base64url').toString()) as Record<string, unknown>
    change(cursor)
    return Buffer.from(JSON.stringify(cursor)).toString('base64url')
  }
  const wrong = [
    '',
    'x',
    'bnVsbA',
    forged((cursor) => (cursor['v'] = 2)),
    forged((cursor) => (cursor['after'] = ['a'])),
    forged((cursor) => (cursor['after'] = [1, 2, 3])),
    forged((cursor) => (cursor['min'] = ['a', 'b', 'c'])),
    forged((cursor) => (cursor['at'] = 'now')),
    forged((cursor) => (cursor['at'] = Number.MAX_SAFE_INTEGER)),
  ]
  for (const text of wrong) {
    const answer = await search(api, `/ncmp/v1/ch/id-searches?limit=5&after=${text}`, NONE)
    t.equal(answer.statusCode, 400, text)
    t.match(answer.json(), { message: 'Invalid Query Parameter.', details: /cursor/ })
  }
  t.equal((await search(api, next, {})).statusCode, 400, 'other conditions')
  t.equal(
    (await search(api, `/ncmpInventory/v1/ch/searches?limit=5&after=${after}`, NONE)).statusCode,
    400,
    'other path',
  )
  t.equal((await search(api, next, NONE)).statusCode, 200)
  const ahead = forged((cursor) => (cursor['at'] = clock.now() + 60_000))
  const answer = await search(api, `/ncmp/v1/ch/id-searches?limit=5&after=${ahead}`, NONE)
  t.equal(answer.statusCode, 200, 'from an instance whose clock is ahead')
  await clock.advance(25 * 3_600_000)
  t.equal((await search(api, next, NONE)).statusCode, 400, 'a day later')
  for (const limit of ['0', '-1', '100001', 'x', '', '1.5', '1&limit=2']) {
    t.equal((await search(api, `/ncmp/v1/ch/id-searches?limit=${limit}`)).statusCode, 400, limit)
  }
})

t.test('a search without all partitions is 503, never a part of the answer', async (t) => {
  const api = await withHandles(t, 10)
  api.streams.queryFailure = 'restoring'
  for (const path of [...ID_SEARCHES, ...OBJECT_SEARCHES]) {
    const answer = await search(api, path)
    t.equal(answer.statusCode, 503, path)
    t.equal(answer.headers['retry-after'], '2')
    t.notMatch(answer.body, /kafka-7|var.lib/)
  }
})

t.test('a list that has begun waits for a partition that moves', async (t) => {
  const api = await withHandles(t, 6000)
  let queries = 0
  api.streams.hold = async () => {
    queries++
    api.streams.queryFailure = queries > 3 && queries < 8 ? 'restoring' : null
  }
  const answer = await search(api, '/ncmp/v1/ch/searches')
  t.equal(answer.statusCode, 200)
  t.equal(new Set(answer.json<{ cmHandle: string }[]>().map(({ cmHandle }) => cmHandle)).size, 6000)
})

t.test('a stream that fails half-way breaks off, so that no client takes it for the whole', async (t) => {
  const api = await withHandles(t, 6000)
  const url = await api.server.start()
  let queries = 0
  api.streams.hold = async () => {
    if (++queries > 3) api.streams.queryFailure = 'notOwned'
  }
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${url}/ncmp/v1/ch/searches`, { method: 'POST', headers, body: '{}' })
  t.equal(answer.status, 200)
  await t.rejects(answer.text(), { message: 'terminated' })
})

t.test('large answers are whole', async (t) => {
  const api = await withHandles(t, 5000)
  t.equal((await search(api, '/ncmp/v1/ch/searches')).json<unknown[]>().length, 5000)
  t.equal((await search(api, '/ncmp/v1/ch/searches?limit=100000')).json<unknown[]>().length, 5000)
  t.equal((await search(api, '/ncmp/v1/ch/id-searches')).json<unknown[]>().length, 5000)
})
