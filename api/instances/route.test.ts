import t from 'tap'
import { PROTOCOL } from '../../topology/cluster/instance-call.js'
import { fakeInstance, live } from '../../topology/cluster/test-instances.js'
import { testApi } from '../test-api.js'

const headers = {
  authorization: 'Bearer secret',
  'x-pulsefold-protocol': String(PROTOCOL),
  'content-type': 'application/json',
}
const query = { domain: 'counting', query: 'count', partition: 1, args: 'a', minOffset: -1, activeOnly: false }
const event = { type: 'Counted', data: { key: 'a', mode: '' } }
const command = { domain: 'counting', partition: 1, event, options: { commandId: 'act-1', timeoutMs: 100 } }

const without = (name: string): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([known]) => known !== name))

interface Case {
  readonly name: string
  readonly url?: string
  readonly headers?: Record<string, string>
  readonly payload?: object | string
  readonly status: number
  readonly body: object
}

const unknown = { code: 'INSTANCE_UNKNOWN' }
const other = { code: 'INSTANCE_INCOMPATIBLE' }
const cases: readonly Case[] = [
  { name: 'a query', status: 200, body: { ok: true, result: 'a', role: 'active', stalenessMs: 0 } },
  { name: 'without token', headers: without('authorization'), status: 401, body: unknown },
  { name: 'with another token', headers: { ...headers, authorization: 'Bearer secret2' }, status: 401, body: unknown },
  { name: 'with an empty token', headers: { ...headers, authorization: 'Bearer ' }, status: 401, body: unknown },
  { name: 'without protocol', headers: without('x-pulsefold-protocol'), status: 409, body: other },
  {
    name: 'of another version',
    headers: { ...headers, 'x-pulsefold-protocol': String(PROTOCOL + 1) },
    ...{ status: 409, body: { ...other, message: `protocol ${PROTOCOL} is spoken here` } },
  },
  { name: 'another domain', payload: { ...query, domain: 'none' }, status: 409, body: { message: /no query "count"/ } },
  { name: 'another query', payload: { ...query, query: 'none' }, status: 409, body: { message: /no query "none"/ } },
  {
    name: 'another partition',
    payload: { ...query, partition: 3 },
    status: 409,
    body: { message: /has 3 partitions/ },
  },
  {
    name: 'look-ups, each with its answer',
    url: 'look-ups',
    payload: [query, { ...query, args: 'b' }, { ...query, query: 'none' }],
    status: 200,
    body: [
      { ok: true, answer: { ok: true, result: 'a' } },
      { ok: true, answer: { ok: true, result: 'b' } },
      { ok: false, reason: /no query "none"/ },
    ],
  },
  { name: 'no list of look-ups', url: 'look-ups', status: 409, body: other },
  { name: 'half a query', payload: { ...query, minOffset: 'x' }, status: 409, body: { message: 'not a query' } },
  { name: 'no JSON', payload: '{', status: 400, body: { code: 'BODY_MALFORMED' } },
  { name: 'a huge query', payload: { ...query, args: 'x'.repeat(5e6) }, status: 413, body: { code: 'BODY_TOO_LARGE' } },
  { name: 'a command', url: 'commands', payload: command, status: 200, body: { ok: false, reason: 'notOwned' } },
  {
    name: 'a command of an unknown event',
    ...{ url: 'commands', payload: { ...command, event: { ...event, type: 'toString' } } },
    ...{ status: 409, body: { message: /no event "toString" of "counting"/ } },
  },
  { name: 'half a command', url: 'commands', payload: { ...command, options: {} }, status: 409, body: other },
]

t.test('what other instances ask, and what is refused', async (t) => {
  const { server, logLines } = await testApi(t, { instances: { local: fakeInstance(live).local, token: 'secret' } })
  for (const { name, url = 'queries', payload = query, status, body, ...given } of cases) {
    const request = { method: 'POST', url: `/internal/${url}`, headers: given.headers ?? headers, payload } as const
    const answer = await server.app.inject(request)
    t.match([answer.statusCode, answer.json()], [status, body], name)
  }
  t.notMatch(logLines.join(''), /secret/, 'tokens stay out of the log')
  t.notMatch((await server.app.inject('/openapi.json')).body, /internal/, 'nothing for clients')
})

t.test('without others there is no such route', async (t) => {
  const { server } = await testApi(t)
  const answer = await server.app.inject({ method: 'POST', url: '/internal/queries', headers, payload: query })
  t.equal(answer.statusCode, 404)
})

t.test('while the service stops, its tasks still answer other instances', async (t) => {
  const { server, streams } = await testApi(t, { instances: { local: fakeInstance(live).local, token: 'secret' } })
  const url = await server.start()
  let release = (): void => undefined
  streams.hold = () => new Promise((resolve) => (release = resolve))
  const slow = fetch(`${url}/ncmp/v1/ch/a`)
  while (streams.openQueries === 0) await new Promise((resolve) => setImmediate(resolve))
  const stopped = server.stop()
  const ask = (path: string, payload: object) => server.app.inject({ method: 'POST', url: path, headers, payload })
  t.equal((await ask('/internal/queries', query)).statusCode, 200)
  t.equal((await ask('/ncmp/v1/ch/id-searches', {})).statusCode, 503)
  release()
  streams.hold = () => Promise.resolve()
  await slow
  await stopped
})
