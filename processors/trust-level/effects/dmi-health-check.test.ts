import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import net, { type AddressInfo, type Server, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { manualClock } from '../../../common/manual-clock.js'
import { pluginAddressPolicy } from '../../../common/plugin-address.js'
import type { DmiPluginChecked } from '../../../schemas/trust-level/journal-events.js'
import { DMI_HEALTH_CHECK } from './dmi-health-check-request.js'
import { dmiHealthCheck, type DmiHealthCheckOptions } from './dmi-health-check.js'

const READINESS = '/manage/health/readiness'
const ACTUATOR = '/actuator/health'

const policyOn = (httpHost: string) =>
  pluginAddressPolicy({ httpHost, httpPort: 1, advertisedUrl: '', allowedUrlPattern: '' }, [])

function checker(changes: Partial<DmiHealthCheckOptions> = {}) {
  const clock = manualClock()
  const effector = dmiHealthCheck({
    clock,
    healthPaths: [READINESS, ACTUATOR],
    deadlineMs: 2000,
    username: '',
    password: '',
    policy: policyOn('127.0.0.1'),
    ...changes,
  })
  const check = async (plugin: string, healthPath = '', signal = new AbortController().signal) => {
    const request = { id: '1', kind: DMI_HEALTH_CHECK, target: plugin, payload: { plugin, healthPath } }
    const event = await effector.perform(request, signal)
    return event.data as DmiPluginChecked
  }
  return { clock, check, effector }
}

/** Listens on loopback until the test ends; counts what connects. */
async function listening(t: Test, server: Server) {
  const open = new Set<Socket>()
  const seen = { connections: 0, mostOpen: 0 }
  server.on('connection', (socket) => {
    open.add(socket)
    seen.connections += 1
    seen.mostOpen = Math.max(seen.mostOpen, open.size)
    socket.on('error', () => undefined).on('close', () => open.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    for (const socket of open) socket.destroy()
  })
  const port = (server.address() as AddressInfo).port
  return { server, url: `http://127.0.0.1:${port}`, port, open, seen }
}

const httpPlugin = (t: Test, handler: RequestListener) => listening(t, createServer(handler))

/** Answers each connection's first bytes by `answer`; without one it stays silent. */
const rawPlugin = (t: Test, answer?: (socket: Socket, nth: number) => void) => {
  let connections = 0
  return listening(
    t,
    net.createServer((socket) => {
      const nth = ++connections
      socket.once('data', () => answer?.(socket, nth))
    }),
  )
}

const allClosed = async (open: ReadonlySet<Socket>) => {
  await Promise.all([...open].map((socket) => once(socket, 'close')))
}

t.test('a plugin is up only with 2xx and a JSON body whose top-level status is exactly UP', async (t) => {
  const answers: readonly (readonly [status: number, body: string, up: boolean, reason: RegExp])[] = [
    [200, '{"status":"UP"}', true, /^status UP$/],
    [200, '{"components":{"db":{"status":"DOWN"}},"groups":["readiness"],"status":"UP"}', true, /^status UP$/],
    [201, '{"status":"UP"}', true, /^status UP$/],
    [200, '\n {"status" : "UP"}\n', true, /^status UP$/],
    [200, '{"status":"DOWN"}', false, /^status "DOWN"$/],
    [200, '{"status":"OUT_OF_SERVICE"}', false, /^status "OUT_OF_SERVICE"$/],
    [200, '{"status":"up"}', false, /^status "up"$/],
    [200, '{"status":"UP "}', false, /^status "UP "$/],
    [200, '{"status":true}', false, /^status true$/],
    [200, '{"status":["UP"]}', false, /^status \["UP"\]$/],
    [200, '{"status":null}', false, /^status null$/],
    [200, '{"health":{"status":"UP"}}', false, /no status/],
    [200, '{"__proto__":{"status":"UP"}}', false, /no status/],
    [200, '[{"status":"UP"}]', false, /no status/],
    [200, '"UP"', false, /no status/],
    [200, 'null', false, /no status/],
    [200, 'UP', false, /not JSON/],
    [200, '{"status":"UP"', false, /not JSON/],
    [200, '['.repeat(60_000), false, /not JSON/],
    [200, '', false, /not JSON/],
    [204, '', false, /not JSON/],
    [400, '{"status":"UP"}', false, /^answered 400$/],
    [401, '{"status":"UP"}', false, /^answered 401$/],
    [500, '{"status":"UP"}', false, /^answered 500$/],
    [503, '{"status":"DOWN"}', false, /^answered 503$/],
  ]
  let current: readonly [number, string] = [200, '']
  const plugin = await httpPlugin(t, (_request, response) => {
    response.writeHead(current[0]).end(current[1])
  })
  const { check } = checker()
  for (const [status, body, up, reason] of answers) {
    current = [status, body]
    const health = await check(plugin.url)
    t.match(health, { plugin: plugin.url, up, healthPath: READINESS, reason }, `${status} ${body.slice(0, 40)}`)
  }
  current = [200, `{"status":"${'x'.repeat(10_000)}"}`]
  t.ok((await check(plugin.url)).reason.length < 100, 'what the plugin says is cut')
})

t.test('the body decides, whatever its content type', async (t) => {
  let contentType = ''
  const plugin = await httpPlugin(t, (_request, response) => {
    response.setHeader('content-type', contentType).end('{"status":"UP"}')
  })
  const { check } = checker()
  for (contentType of ['application/json', 'application/vnd.spring-boot.actuator.v3+json', 'text/plain']) {
    t.match(await check(plugin.url), { up: true }, contentType)
  }
})

t.test('paths are asked in order, the remembered one first; a 404 moves on', async (t) => {
  const asked: string[] = []
  let known: Readonly<Record<string, number>> = {}
  const plugin = await httpPlugin(t, (request, response) => {
    asked.push(request.url ?? '')
    response.writeHead(known[request.url ?? ''] ?? 404).end('{"status":"UP"}')
  })
  const { check } = checker()
  const cases: readonly (readonly [known: Record<string, number>, remembered: string, asked: string[], up: boolean])[] =
    [
      [{ [READINESS]: 200 }, '', [READINESS], true],
      [{ [READINESS]: 200, [ACTUATOR]: 200 }, ACTUATOR, [ACTUATOR], true],
      [{ [ACTUATOR]: 200 }, '', [READINESS, ACTUATOR], true],
      [{ [READINESS]: 200 }, ACTUATOR, [ACTUATOR, READINESS], true],
      [{ [READINESS]: 503, [ACTUATOR]: 200 }, '', [READINESS], false],
      [{ [READINESS]: 200 }, '/no-longer-set', [READINESS], true],
      [{}, '', [READINESS, ACTUATOR], false],
    ]
  for (const [paths, remembered, expected, up] of cases) {
    known = paths
    asked.length = 0
    const health = await check(plugin.url, remembered)
    t.same(asked, expected)
    t.match(health, { up, healthPath: Object.keys(paths).length === 0 ? '' : expected.at(-1)! })
  }
  known = { [`/below/here${ACTUATOR}`]: 200 }
  asked.length = 0
  t.match(await check(`${plugin.url}/below/here`), { up: true, healthPath: ACTUATOR })
  t.same(asked, [`/below/here${READINESS}`, `/below/here${ACTUATOR}`], 'IV-11 a single slash in between')
})

t.test('a check says that it wants JSON, with basic authorization where there is a user', async (t) => {
  const plugin = await httpPlugin(t, (request, response) => {
    const { accept, authorization } = request.headers
    const isAllowed = authorization === `Basic ${Buffer.from('cps:s:ecret').toString('base64')}`
    response.writeHead(accept === 'application/json' && isAllowed ? 200 : 401).end('{"status":"UP"}')
  })
  t.match(await checker({ username: 'cps', password: 's:ecret' }).check(plugin.url), { up: true })
  const refused = await checker({ username: 'cps', password: 'other-secret' }).check(plugin.url)
  t.match(refused, { up: false, reason: 'answered 401' })
  t.notMatch(JSON.stringify(refused), /other-secret|b3RoZXItc2VjcmV0/, 'SE-01 no credentials in the result')
  t.match(await checker().check(plugin.url), { up: false, reason: 'answered 401' })
})

t.test('HS-04 a plugin that hangs is down after the deadline and delays no other', async (t) => {
  const hanging = await rawPlugin(t)
  const others = await Promise.all(
    Array.from({ length: 19 }, () => httpPlugin(t, (_request, response) => response.end('{"status":"UP"}'))),
  )
  const { check, clock } = checker()
  const connected = once(hanging.server, 'connection')
  const pending = check(hanging.url)
  await connected
  const healths = await Promise.all(others.map(({ url }) => check(url)))
  t.ok(
    healths.every(({ up }) => up),
    'the others are answered while the clock stands still',
  )
  await clock.advance(1999)
  t.equal(hanging.open.size, 1, 'still waiting just before the deadline')
  await clock.advance(1)
  t.match(await pending, { up: false, healthPath: '', reason: 'no full answer within 2000 ms' })
  await allClosed(hanging.open)
})

t.test('one deadline is for all of a check', async (t) => {
  const stall = (clock: ReturnType<typeof manualClock>) => async (pending: Promise<DmiPluginChecked>) => {
    await clock.advance(2000)
    return pending
  }
  await t.test('a body that trickles', async (t) => {
    const plugin = await httpPlugin(t, (_request, response) => response.write('{"status":'))
    const { check, clock } = checker()
    const asked = once(plugin.server, 'request')
    const pending = check(plugin.url)
    await asked
    t.match(await stall(clock)(pending), { up: false, reason: /within 2000 ms/ })
    await allClosed(plugin.open)
  })
  await t.test('a second path after a slow 404', async (t) => {
    const plugin = await httpPlugin(t, () => undefined)
    const { check, clock } = checker()
    const first = once(plugin.server, 'request') as Promise<[IncomingMessage, ServerResponse]>
    const pending = check(plugin.url)
    const [, response] = await first
    await clock.advance(1500)
    const second = once(plugin.server, 'request')
    response.writeHead(404).end()
    await second
    await clock.advance(500)
    t.match(await pending, { up: false, reason: /within 2000 ms/ })
  })
  await t.test('a TLS handshake that is not answered', async (t) => {
    const plugin = await rawPlugin(t)
    const { check, clock } = checker()
    const connected = once(plugin.server, 'connection')
    const pending = check(plugin.url.replace('http:', 'https:'))
    await connected
    t.match(await stall(clock)(pending), { up: false, reason: /within 2000 ms/ })
    await allClosed(plugin.open)
  })
  await t.test('a name server that does not answer', async (t) => {
    const { check, clock } = checker({ resolve: () => new Promise(() => undefined) })
    t.match(await stall(clock)(check('http://dmi-a:8081')), { up: false, reason: /within 2000 ms/ })
  })
})

t.test('HS-06 a reset is tried once more, on a fresh connection', async (t) => {
  const cases: readonly (readonly [what: string, resets: number, up: boolean, end: (socket: Socket) => void])[] = [
    ['a reset', 1, true, (socket) => socket.resetAndDestroy()],
    ['two resets', 2, false, (socket) => socket.resetAndDestroy()],
    ['closed without an answer', 1, true, (socket) => socket.end()],
    ['closed without an answer twice', 2, false, (socket) => socket.end()],
    [
      'closed within the body',
      1,
      true,
      (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"status"'),
    ],
  ]
  for (const [what, resets, up, end] of cases) {
    const plugin = await rawPlugin(t, (socket, nth) => {
      if (nth <= resets) end(socket)
      else socket.end('HTTP/1.1 200 OK\r\ncontent-length: 15\r\n\r\n{"status":"UP"}')
    })
    t.match(await checker().check(plugin.url), { up }, what)
    t.equal(plugin.seen.connections, 2, `${what}: two connections`)
  }
})

t.test('HS-06 each check connects anew: none is false for an idle connection, none hides a closed door', async (t) => {
  const plugin = await httpPlugin(t, (_request, response) => response.end('{"status":"UP"}'))
  const { check } = checker()
  for (let n = 0; n < 20; n++) t.match(await check(plugin.url), { up: true })
  t.equal(plugin.seen.connections, 20)
  const kept = net.connect(plugin.port, '127.0.0.1')
  await once(kept, 'connect')
  plugin.server.close()
  t.match(await check(plugin.url), { up: false, reason: 'connection refused' })
  kept.destroy()
})

t.test('SE-01 a redirect is down and not followed', async (t) => {
  const inner = await httpPlugin(t, (_request, response) => response.end('{"status":"UP"}'))
  for (const status of [301, 302, 303, 307, 308]) {
    const plugin = await httpPlugin(t, (_request, response) => {
      response.writeHead(status, { location: inner.url }).end()
    })
    t.match(await checker().check(plugin.url), { up: false, reason: /redirects are not followed/ }, String(status))
  }
  t.equal(inner.seen.connections, 0)
})

t.test('SE-01 no connection is made to a forbidden target, by number or by name', async (t) => {
  const inner = await httpPlugin(t, (_request, response) => response.end('{"status":"UP"}'))
  const loopback = { address: '127.0.0.1', family: 4 }
  let addresses = [loopback]
  const { check } = checker({ policy: policyOn('0.0.0.0'), resolve: async () => addresses })
  t.match(await check(inner.url), { up: false, reason: /loopback/ })
  t.match(await check(`http://dmi-a:${inner.port}`), { up: false, reason: /loopback/ })
  addresses = [{ address: '::ffff:127.0.0.1', family: 6 }, loopback]
  t.match(await check(`http://dmi-a:${inner.port}`), { up: false, reason: /loopback/ })
  addresses = []
  t.match(await check(`http://dmi-a:${inner.port}`), { up: false, reason: /no address/ })
  t.equal(inner.seen.connections, 0)
})

t.test('SE-01 the connection goes to the address that was checked, and to no forbidden one beside it', async (t) => {
  const plugin = await httpPlugin(t, (_request, response) => response.end('{"status":"UP"}'))
  let lookUps = 0
  const { check } = checker({
    resolve: async () => {
      lookUps += 1
      return [
        { address: '169.254.169.254', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ]
    },
  })
  t.match(await check(`http://dmi-a.invalid:${plugin.port}`), { up: true })
  t.equal(lookUps, 1)
})

t.test('what a plugin does badly is a reason in words, never a rejection', async (t) => {
  const filler = 'x'.repeat(1000)
  const headers = Array.from({ length: 20 }, (_, n) => `x-${n}: ${filler}`).join('\r\n')
  const answers: readonly (readonly [what: string, answer: string, reason: RegExp])[] = [
    ['headers too long', `HTTP/1.1 200 OK\r\n${headers}\r\n\r\n`, /headers longer than 16384 bytes/],
    ['no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', /no HTTP answer/],
    ['a body without end', `HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(70_000)}`, /body longer than 65536 bytes/],
    ['a wrong length', 'HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n{}', /no HTTP answer/],
  ]
  for (const [what, answer, reason] of answers) {
    const plugin = await rawPlugin(t, (socket) => socket.write(answer))
    t.match(await checker().check(plugin.url), { up: false, reason }, what)
    await allClosed(plugin.open)
  }
  const gone = await rawPlugin(t)
  gone.server.close()
  t.match(await checker().check(gone.url), { up: false, reason: 'connection refused' })
  const plain = await httpPlugin(t, (_request, response) => response.end('{"status":"UP"}'))
  t.match(await checker().check(plain.url.replace('http:', 'https:')), { up: false, reason: /no HTTP answer/ })
  const notFound = Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' })
  const { check } = checker({ resolve: () => Promise.reject(notFound) })
  t.match(await check('http://dmi-a'), { up: false, reason: 'name not found' })
})

t.test('ME-04 bodies that nobody needs hold no sockets', async (t) => {
  const body = 'x'.repeat(200_000)
  const plugins = await Promise.all(
    Array.from({ length: 10 }, (_, n) =>
      httpPlugin(t, (_request, response) => response.writeHead([503, 200, 404][n % 3]!).end(body)),
    ),
  )
  const { check } = checker()
  for (let round = 0; round < 20; round++) {
    const healths = await Promise.all(plugins.map(({ url }) => check(url)))
    if (healths.some(({ up }) => up)) t.fail('none is up')
  }
  for (const { open, seen } of plugins) {
    await allClosed(open)
    t.ok(seen.connections >= 20 && seen.mostOpen <= 2, `at most ${seen.mostOpen} open of ${seen.connections}`)
  }
})

t.test('an aborted check rejects and lets go of its connection', async (t) => {
  const plugin = await rawPlugin(t)
  const { check } = checker()
  const stopped = new AbortController()
  const connected = once(plugin.server, 'connection')
  const pending = check(plugin.url, '', stopped.signal)
  await connected
  stopped.abort()
  await t.rejects(pending, { name: 'AbortError' })
  await allClosed(plugin.open)
  await t.rejects(check(plugin.url, '', stopped.signal), { name: 'AbortError' })
  t.equal(plugin.seen.connections, 1)
})
