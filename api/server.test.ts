import { once } from 'node:events'
import { Agent, request as httpRequest } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import type { Test } from 'tap'
import { testApi } from './test-api.js'

function client(t: Test, url: string): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => undefined)
  t.teardown(() => socket.destroy())
  return socket
}

interface Answer {
  readonly status: number | undefined
  readonly body: string
  readonly connection: string | undefined
}

async function fetchWith(agent: Agent, url: string, method = 'GET', body?: string): Promise<Answer> {
  const headers = body === undefined ? {} : { 'content-type': 'application/json' }
  const request = httpRequest(url, { agent, method, headers })
  request.end(body)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return { status: response.statusCode, body: await text(response), connection: response.headers.connection }
}

t.test('SE-06 slow headers and slow bodies are ended, others are answered meanwhile', async (t) => {
  const { server } = await testApi(t, { requestTimeoutMs: 300 })
  const url = await server.start()
  const halfHeaders = Array.from({ length: 50 }, () => client(t, url))
  const slowBodies = Array.from({ length: 50 }, () => client(t, url))
  for (const socket of halfHeaders) socket.write('GET /ops/health/live HTT')
  for (const socket of slowBodies) {
    socket.write(
      'POST /ncmp/v1/ch/searches HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n',
    )
    const drip = setInterval(() => socket.write(' '), 50)
    socket.once('close', () => clearInterval(drip))
  }
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  t.equal((await fetchWith(agent, `${url}/ops/health/live`)).status, 200)
  const texts = await Promise.all(
    [...halfHeaders, ...slowBodies].map(async (socket) => {
      let received = ''
      socket.on('data', (data: Buffer) => (received += data.toString()))
      await once(socket, 'close')
      return received
    }),
  )
  t.ok(
    texts.every((received) => received === '' || /^HTTP\/1\.1 408 .*"code":"REQUEST_TIMEOUT"/s.test(received)),
    'a 408, or just closed',
  )
  t.equal((await fetchWith(agent, `${url}/ops/health/live`)).status, 200)
})

t.test('SE-06 by default the bound is under 30 s', async (t) => {
  const { server } = await testApi(t)
  const { requestTimeout, headersTimeout } = server.app.server
  t.ok(requestTimeout * 1.1 < 30_000 && headersTimeout * 1.1 < 30_000)
  t.ok(requestTimeout > 0 && headersTimeout > 0)
})

t.test('what is not HTTP gets a 400 in our shape, and headers beyond 64 KiB a 431', async (t) => {
  const { server } = await testApi(t)
  const url = await server.start()
  const cases: readonly (readonly [bytes: string, expected: RegExp])[] = [
    ['nonsense\r\n\r\n', /^HTTP\/1\.1 400 .*"code":"REQUEST_MALFORMED"/s],
    [`GET /${'x'.repeat(70_000)} HTTP/1.1\r\nhost: x\r\n\r\n`, /^HTTP\/1\.1 431 .*"code":"HEADERS_TOO_LARGE"/s],
  ]
  for (const [bytes, expected] of cases) {
    const socket = client(t, url)
    socket.write(bytes)
    t.match(await text(socket), expected)
  }
})

t.test('SH-05 idle connections are closed at the stop, a running request ends, new ones are refused', async (t) => {
  const { server, streams } = await testApi(t)
  const url = await server.start()
  const agents = Array.from({ length: 12 }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
  t.teardown(() => {
    for (const agent of agents) agent.destroy()
  })
  const [slow, late, ...idle] = agents as [Agent, Agent, ...Agent[]]
  for (const agent of agents) await fetchWith(agent, `${url}/ops/health/live`)
  const idleSockets = idle.flatMap((agent) => Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? []))
  t.equal(idleSockets.length, 10)
  const idleClosed = Promise.all(idleSockets.map((socket) => once(socket, 'close')))

  let release = (): void => undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  const begun = new Promise<void>((resolve) => {
    streams.hold = () => {
      resolve()
      return released
    }
  })
  const slowAnswer = fetchWith(slow, `${url}/ncmp/v1/ch/id-searches`, 'POST', '{}')
  await begun
  const stopped = server.stop()
  await idleClosed

  const health = await fetchWith(late, `${url}/ops/health/ready`)
  t.equal(health.status, 503, 'health answers while stopping')
  t.match(health.body, /the service is stopping/)
  const live = await fetchWith(late, `${url}/ops/health/live`)
  t.equal(live.status, 200)
  t.equal(live.connection, 'close', 'a connection that turns idle now is closed')
  const refused = await fetchWith(late, `${url}/ncmp/v1/ch/ch-1`)
  t.equal(refused.status, 503)
  t.match(refused.body, /503 SERVICE_UNAVAILABLE/)

  release()
  t.match(await slowAnswer, { status: 200, body: '[]', connection: 'close' })
  await stopped
  await t.rejects(fetchWith(late, `${url}/ops/health/live`), { code: 'ECONNREFUSED' })
  await server.stop()
})

t.test('a request that does not end is cut off at the stop, after the time that it is given', async (t) => {
  const waitsMs: number[] = []
  const clock = fastClock()
  const setTimer = (callback: () => void, delayMs: number): (() => void) => {
    waitsMs.push(delayMs)
    return clock.setTimer(callback)
  }
  const { server, streams } = await testApi(t, { clock: { ...clock, setTimer } })
  const url = await server.start()
  streams.hold = () => new Promise(() => undefined)
  const agent = new Agent()
  const request = fetchWith(agent, `${url}/ncmp/v1/ch/ch-1`)
  const cut = t.rejects(request, { code: 'ECONNRESET' })
  await once(server.app.server, 'request')
  await server.stop(1234)
  await cut
  t.same(waitsMs.slice(-2), [1234, 500])
})

t.test('ME-03 searches whose clients have gone are not begun, and leave nothing open', async (t) => {
  const { server, streams } = await testApi(t)
  const url = await server.start()
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  streams.hold = () => released
  const CLIENTS = 200
  const closed: Promise<unknown>[] = []
  const arrived = new Promise<void>((resolve) => {
    server.app.server.on('request', (_request, response) => {
      if (closed.push(once(response, 'close')) === CLIENTS) resolve()
    })
  })
  const sockets = Array.from({ length: CLIENTS }, () => client(t, url))
  const head = 'HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}'
  for (const [i, socket] of sockets.entries()) {
    socket.write(`POST /ncmp/v1/ch/${i % 2 === 0 ? 'searches' : 'id-searches'} ${head}`)
  }
  await arrived
  for (const socket of sockets) socket.destroy()
  await Promise.all(closed)
  release()
  await server.stop()
  t.equal(streams.openQueries, 0)
  t.ok(streams.queries <= 4 * 3, `only the searches at work had asked: ${streams.queries} queries`)
})

t.test('ME-03 a stream whose client goes half-way ends', async (t) => {
  const { server, streams } = await testApi(t)
  const url = await server.start()
  const view = (cmHandle: string): object => ({ cmHandle, publicProperties: { filler: 'x'.repeat(4000) } })
  const handles = streams.handles as Map<string, object>
  for (let i = 0; i < 6000; i++) handles.set(`dev-${i}`, { ...view(`dev-${i}`), lastUpdateTime: 0 })
  const socket = client(t, url)
  const answered = once(server.app.server, 'request') as Promise<[unknown, NodeJS.EventEmitter]>
  socket.write(
    'POST /ncmp/v1/ch/searches HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}',
  )
  const [, response] = await answered
  await once(socket, 'data')
  socket.destroy()
  await once(response, 'close')
  await server.stop()
  t.equal(streams.openQueries, 0)
  t.ok(streams.queries < (6000 / 400) * 3, `it was not read to the end: ${streams.queries} queries`)
})

/** Timers of the stop's bounds fire at once; everything else is real. */
function fastClock(): { now(): number; monotonic(): number; setTimer(callback: () => void): () => void } {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    setTimer(callback) {
      const timer = setImmediate(callback)
      return () => clearImmediate(timer)
    },
  }
}
