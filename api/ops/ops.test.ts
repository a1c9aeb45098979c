import t from 'tap'
import type { Processor } from '../../topology/processor.js'
import { countingProcessor } from '../../topology/counting-processor.js'
import { testApi } from '../test-api.js'
import { TEST_TIME } from '../test-streams.js'

t.test('liveness, readiness with its reasons, and the actuator paths', async (t) => {
  const { server, streams } = await testApi(t)
  const get = async (url: string): Promise<readonly [number, unknown]> => {
    const answer = await server.app.inject(url)
    return [answer.statusCode, answer.json()]
  }
  t.strictSame(await get('/ops/health/live'), [200, { live: true }])
  t.strictSame(await get('/ops/health/ready'), [200, { ready: true, reasons: [], restoring: [] }])
  t.strictSame(await get('/actuator/health'), [200, { status: 'UP', groups: ['liveness', 'readiness'] }])
  t.strictSame(await get('/actuator/health/readiness'), [200, { status: 'UP' }])
  streams.ready = false
  t.strictSame(await get('/ops/health/live'), [200, { live: true }])
  t.strictSame(await get('/ops/health/ready'), [
    503,
    { ready: false, reasons: ['task trust-level/1 is restoring'], restoring: [] },
  ])
  t.match(await get('/actuator/health'), [503, { status: 'OUT_OF_SERVICE' }])
  t.strictSame(await get('/actuator/health/readiness'), [503, { status: 'OUT_OF_SERVICE' }])
  t.strictSame(await get('/actuator/health/liveness'), [200, { status: 'UP' }])
})

t.test('sources are listed in order, and a stopped one is restarted with actor and reason', async (t) => {
  const { server, streams } = await testApi(t)
  const source = { topic: 'in', partition: 1, incarnation: 'x', position: 4, stopped: '' }
  streams.inputs = [source, { ...source, partition: 0, stopped: 'made anew' }]
  const listed = await server.app.inject('/ops/sources')
  t.strictSame(listed.json(), [{ ...source, partition: 0, stopped: 'made anew' }, source])
  const headers = { 'x-pulsefold-actor': 'op', 'x-pulsefold-reason': 'moved' }
  const restart = (path: string) => server.app.inject({ method: 'POST', url: `/ops/sources/${path}/restart`, headers })
  t.strictSame((await restart('in/0')).json(), { incarnation: 'x+2', from: 7 })
  t.strictSame(streams.restarts, [{ topic: 'in', partition: 0, actor: 'op', reason: 'moved' }])
  streams.restartResult = { ok: false, reason: 'notStopped' }
  t.match((await restart('in/1')).json(), { status: 409, code: 'SOURCE_NOT_STOPPED' })
  streams.restartResult = { ok: false, reason: 'unknown' }
  t.match((await restart('other/1')).json(), { status: 404, code: 'SOURCE_NOT_FOUND' })
  t.equal((await restart('in/x')).statusCode, 400)
})

t.test('metrics are served as they are', async (t) => {
  const { server } = await testApi(t)
  const answer = await server.app.inject('/metrics')
  t.match([answer.headers['content-type'], answer.body], ['text/plain; version=0.0.4', 'up 1\n'])
})

t.test('the topology as text, JSON or Mermaid, by parameter or Accept', async (t) => {
  const { server } = await testApi(t, { processors: [countingProcessor] })
  const TEXT = /^Topologies:/
  const JSON_FORM = /^\{"/
  const MERMAID = /^(flowchart|graph) /
  const cases: readonly (readonly [url: string, accept: string | undefined, type: string, body: RegExp])[] = [
    ['/ops/topology', undefined, 'text/plain', TEXT],
    ['/ops/topology', '*/*', 'text/plain', TEXT],
    ['/ops/topology', 'application/json', 'application/json', JSON_FORM],
    ['/ops/topology', 'text/vnd.mermaid', 'text/vnd.mermaid', MERMAID],
    ['/ops/topology?format=json', 'text/plain', 'application/json', JSON_FORM],
    ['/ops/topology?format=mermaid', undefined, 'text/vnd.mermaid', MERMAID],
    ['/ops/topology?format=text', 'application/json', 'text/plain', TEXT],
  ]
  for (const [url, accept, type, body] of cases) {
    const answer = await server.app.inject({ url, headers: accept === undefined ? {} : { accept } })
    t.match(answer.headers['content-type'], new RegExp(`^${type}`), url)
    t.match(answer.body, body, url)
    t.match(answer.body, /count-changes/, url)
  }
})

t.test('plugins of all partitions, with their handles counted over all', async (t) => {
  const { server } = await testApi(t)
  for (const plugin of ['http://dmi-b', 'http://dmi-a']) {
    const createdCmHandles = [...Array(20).keys()].map((i) => ({ cmHandle: `${plugin.slice(-1)}-${i}` }))
    await server.app.inject({
      method: 'POST',
      url: '/ncmpInventory/v1/ch',
      payload: { dmiPlugin: plugin, createdCmHandles },
    })
  }
  const row = { trustLevel: 'COMPLETE', since: new Date(TEST_TIME).toISOString(), lastCheck: null, cmHandles: 20 }
  t.match((await server.app.inject('/ops/dmi-plugins')).json(), [
    { plugin: 'http://dmi-a', ...row },
    { plugin: 'http://dmi-b', ...row },
  ])
})

t.test('JSON of a record keeps all its digits', async (t) => {
  const { server, streams } = await testApi(t)
  const spec = { partitions: 1, cleanup: 'delete', retentionMs: -1, retentionBytes: -1 } as const
  await streams.log.createTopics([{ ...spec, name: 'events', timestampType: 'CreateTime' }])
  const values = [
    '{"id":9007199254740993,"ratio":0.10000000000000000001}',
    ' [18446744073709551615]',
    '12345678901234567890',
  ]
  const records = values.map((value) => ({ key: null, value: Buffer.from(value) }))
  await streams.log.append('events', 0, records)
  const answer = await server.app.inject('/ops/topics/events/records')
  t.match(answer.headers['content-type'], /^application\/json/)
  t.equal(answer.json<{ records: unknown[] }>().records.length, 3)
  for (const value of values) t.ok(answer.body.includes(value), value)
})

t.test('records of a topic, of one partition and of all', async (t) => {
  const { server, streams } = await testApi(t, {
    decodeRecord: (topic, record) => (topic === 'journal' ? { decoded: record.offset } : undefined),
  })
  const { log } = streams
  const spec = { partitions: 2, cleanup: 'delete', retentionMs: -1, retentionBytes: -1 } as const
  await log.createTopics([
    { ...spec, name: 'events', timestampType: 'CreateTime' },
    { ...spec, name: 'journal', timestampType: 'CreateTime' },
  ])
  const bytes = (text: string): Buffer => Buffer.from(text)
  await log.append('events', 0, [
    {
      key: bytes('a'),
      value: bytes('{"n":1}'),
      timestamp: 10,
      headers: [
        ['h', bytes('1')],
        ['h', bytes('2')],
        ['__proto__', bytes('p')],
      ],
    },
    { key: null, value: null, timestamp: 40 },
    { key: bytes('b'), value: Buffer.from([0xff, 0, 1]), timestamp: 30 },
  ])
  await log.append('events', 1, [
    { key: bytes('c'), value: bytes('plain'), timestamp: 20 },
    { key: bytes('d'), value: bytes('{broken'), timestamp: 50 },
  ])
  await log.append('journal', 0, [{ key: null, value: bytes('binary'), timestamp: 1 }])

  const get = async (url: string): Promise<Record<string, unknown>> => (await server.app.inject(url)).json()
  const first = await get('/ops/topics/events/records?partition=0&offset=0&limit=100')
  t.equal(first['topic'], 'events')
  t.strictSame(first['next'], { 0: 3 })
  const [withHeaders, tombstone, binary] = first['records'] as Record<string, unknown>[]
  t.match(withHeaders, { partition: 0, offset: 0, timestamp: 10, key: 'a', value: { n: 1 } })
  t.strictSame(Object.entries(withHeaders?.['headers'] as object), [
    ['h', ['1', '2']],
    ['__proto__', 'p'],
  ])
  t.match(tombstone, { offset: 1, key: null, value: null, headers: {} })
  t.match(binary, { offset: 2, value: '/wAB', encoding: 'base64' })

  const merged = await get('/ops/topics/events/records')
  const order = (answer: Record<string, unknown>): unknown[] =>
    (answer['records'] as { partition: number; offset: number }[]).map(
      ({ partition, offset }) => `${partition}/${offset}`,
    )
  t.strictSame(order(merged), ['0/0', '1/0', '0/1', '0/2', '1/1'], 'by timestamp, each partition in its own order')
  t.match((merged['records'] as unknown[])[1], { value: 'plain' })
  t.match((merged['records'] as unknown[])[4], { value: '{broken' })
  const page = await get('/ops/topics/events/records?limit=3')
  t.strictSame([order(page), page['next']], [['0/0', '1/0', '0/1'], { 0: 2, 1: 1 }])
  const end = await get('/ops/topics/events/records?partition=1&offset=2')
  t.strictSame([end['records'], end['next']], [[], { 1: 2 }])

  const mirror = await get('/ops/topics/events/records?partition=0&limit=1&encoding=base64')
  t.match(mirror['records'], [
    { key: 'YQ==', value: 'eyJuIjoxfQ==', headers: { h: ['MQ==', 'Mg=='] }, encoding: 'base64' },
  ])
  t.match(await get('/ops/topics/journal/records'), { records: [{ value: { decoded: 0 } }] })

  await log.deleteBefore({ topic: 'events', partition: 0 }, 2)
  t.strictSame(order(await get('/ops/topics/events/records')), ['1/0', '0/2', '1/1'])
  const wrong: readonly (readonly [query: string, status: number])[] = [
    ['events/records?partition=0&offset=0', 400],
    ['events/records?partition=0&offset=4', 400],
    ['events/records?partition=2', 400],
    ['events/records?partition=-1', 400],
    ['events/records?partition=x', 400],
    ['events/records?limit=0', 400],
    ['events/records?limit=10001', 400],
    ['events/records?encoding=hex', 400],
    ['nothing/records', 404],
  ]
  for (const [query, status] of wrong) {
    const answer = await server.app.inject(`/ops/topics/${query}`)
    t.equal(answer.statusCode, status, query)
  }
})

t.test('every route is in the OpenAPI description, with a summary, described parameters and an answer', async (t) => {
  const { server } = await testApi(t, { processors: [{ name: 'x', inputs: [], outputs: [] } as unknown as Processor] })
  const document = (await server.app.inject('/openapi.json')).json<{
    openapi: string
    paths: Record<string, Record<string, Operation>>
  }>()
  t.match(document.openapi, /^3\.1/)
  const declared = server.routes.filter(({ method }) => method !== 'HEAD' && method !== 'OPTIONS')
  t.ok(declared.length >= 20)
  for (const { method, url } of declared) {
    const path = url.replace(/:([A-Za-z]+)/g, '{$1}')
    const operation = document.paths[path]?.[method.toLowerCase()]
    t.ok(operation, `${method} ${path}`)
    t.ok(operation?.summary, `${method} ${path} has a summary`)
    t.ok(Object.keys(operation?.responses ?? {}).length > 0, `${method} ${path} has answers`)
    for (const parameter of operation?.parameters ?? []) {
      t.ok(parameter.in === 'path' || parameter.description, `${method} ${path}: ${parameter.name} is described`)
    }
  }
})

interface Operation {
  readonly summary?: string
  readonly responses?: object
  readonly parameters?: readonly { readonly in: string; readonly name: string; readonly description?: string }[]
}
