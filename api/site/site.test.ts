import { once } from 'node:events'
import { createServer, request as sending } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import t from 'tap'
import type { Test } from 'tap'
import { initialRecord, roleOf } from '../../processors/site/index.js'
import type { SiteName, SiteRecord } from '../../processors/site/index.js'
import { testApi } from '../test-api.js'
import { historyFromJson, historyToJson } from './history-json.js'
import type { ActRequest, ActResult, SiteAct, SiteControl } from './site-control.js'

interface StandIn {
  record: SiteRecord
  leaderUrl: string | undefined
  isServing: boolean
  result: ActResult
  readonly acts: [SiteAct, ActRequest][]
  readonly control: SiteControl & { drill: SiteControl['drill'] }
}

const progress = { loadedTo: 0, eventsPerSecond: 0, etaMs: null, events: 0, knownFrom: 0 }
const done: ActResult = { ok: true, status: 'failovering', epoch: 2, phase: 'PRELOAD' }

function standIn(site: SiteName, peerUrl = 'http://127.0.0.1:9', token = ''): StandIn {
  const stand: StandIn = {
    record: initialRecord,
    leaderUrl: undefined,
    isServing: true,
    result: done,
    acts: [],
    control: {
      site,
      peerUrl,
      token,
      get role() {
        return roleOf(site, stand.record)
      },
      get record() {
        return stand.record
      },
      get leaderUrl() {
        return stand.leaderUrl
      },
      get isServing() {
        return stand.isServing
      },
      act(act, request) {
        stand.acts.push([act, request])
        return Promise.resolve(stand.result)
      },
      status: () => ({
        site,
        record: stand.record,
        base: 0,
        mirrorLagMs: 12,
        overlap: null,
        peer: { url: peerUrl, healthy: true },
        ...progress,
      }),
      exchange: (record) =>
        Promise.resolve({
          record: stand.record,
          healthy: true,
          consumes: true,
          ends: [],
          progress,
          overlap: null,
          accepted: record.epoch >= stand.record.epoch,
        }),
      history: (wanted) =>
        Promise.resolve(
          wanted.map(({ topic, partition, offset }) => ({
            ...{ topic, partition, incarnation: 'i', start: 0, end: 1, next: 1 },
            records: [{ offset, timestamp: 7, key: null, value: Buffer.from('block'), headers: [] }],
          })),
        ),
      digests: () => Promise.resolve([{ domain: 'd', partition: 0, offset: 3, digest: 'ab' }]),
      drill: () =>
        Promise.resolve({
          ok: true,
          report: { equal: true, different: [], events: 5, ms: 1, eventsPerSecond: 5000, mirrorLagMs: null },
        }),
    },
  }
  return stand
}

async function siteApi(t: Test, stand: StandIn, health = { isUp: true, reasons: [] as string[] }) {
  const { server } = await testApi(t, { site: stand.control, healthCheck: () => health })
  return server.app
}

t.test('acts answer with the word of the requirement, and carry who asked and why', async (t) => {
  const stand = standIn('secondary')
  const app = await siteApi(t, stand)
  for (const status of ['failovering', 'failovered', 'failbacking', 'failbacked', 'aborted'] as const) {
    stand.result = { ok: true, status, epoch: 2, phase: 'PRELOAD' }
    const act = status === 'aborted' ? 'abort' : status.startsWith('failover') ? 'failover' : 'failback'
    const answer = await app.inject({ method: 'POST', url: `/site/${act}`, payload: { actor: 'ann', reason: 'why' } })
    t.equal(answer.statusCode, 200)
    t.same(answer.json(), { status, epoch: 2, phase: 'PRELOAD' })
    t.same(stand.acts.at(-1), [act, { actor: 'ann', reason: 'why', forwarded: false }])
  }
  const reason = Buffer.from('cut – Łódź').toString('latin1')
  const headers = { 'x-pulsefold-actor': 'Ren\xe9', 'x-pulsefold-reason': reason, 'x-pulsefold-hop': '1' }
  t.equal((await app.inject({ method: 'POST', url: '/site/failover', headers })).statusCode, 200)
  t.same(stand.acts.at(-1), ['failover', { actor: 'René', reason: 'cut – Łódź', forwarded: true }], 'UTF-8 or Latin-1')
})

t.test('acts that cannot be done, or are not understood, say so', async (t) => {
  const stand = standIn('secondary')
  const app = await siteApi(t, stand)
  stand.result = { ok: false, reason: 'conflict', message: 'a failover is in phase PRELOAD' }
  t.match((await app.inject({ method: 'POST', url: '/site/failback' })).json(), {
    status: 409,
    code: 'SITE_CONFLICT',
    message: 'a failover is in phase PRELOAD',
  })
  stand.result = { ok: false, reason: 'unreachable', message: 'no answer' }
  const unreachable = await app.inject({ method: 'POST', url: '/site/failover' })
  t.match(unreachable.json(), { status: 503, code: 'SITE_UNREACHABLE' })
  t.match(unreachable.headers, { 'retry-after': '1' })
  for (const payload of ['[]', '"x"', '{"actor":1}', `{"reason":"${'x'.repeat(256)}"}`, '{']) {
    const headers = { 'content-type': 'application/json' }
    const answer = await app.inject({ method: 'POST', url: '/site/failover', payload, headers })
    t.equal(answer.statusCode, 400, payload.slice(0, 20))
  }
})

t.test('GET /site shows a switch under way, and nothing of one that never was', async (t) => {
  const stand = standIn('secondary')
  const app = await siteApi(t, stand)
  t.same((await app.inject('/site')).json(), {
    ...{ site: 'secondary', active: 'primary', epoch: 1, phase: 'STEADY', kind: 'manual', oldAlive: true, since: null },
    ...{ base: 'none', loadedTo: null, events: 0, eventsPerSecond: 0, etaMs: null, mirrorLagMs: 12 },
    peer: { url: 'http://127.0.0.1:9', healthy: true },
  })
  const t0 = Date.UTC(2026, 10, 30, 12)
  stand.record = {
    ...initialRecord,
    ...{ epoch: 2, phase: 'PRELOAD', target: 'secondary', error: 'history is down', since: t0, switchedAt: t0 },
    windowFrom: t0 - 3_600_000,
    report: '{"untilSteadyMs":5}',
  }
  t.match((await app.inject('/site')).json(), {
    target: 'secondary',
    error: 'history is down',
    window: { from: '2026-11-30T11:00:00.000Z', to: '2026-11-30T12:00:00.000Z' },
    lastSwitch: { untilSteadyMs: 5 },
  })
})

t.test('FO-09 the health address is 200 or 500 by what it is told, liveness is 200 whatever the role', async (t) => {
  for (const [isUp, status, word] of [
    [true, 200, 'UP'],
    [false, 500, 'DOWN'],
  ] as const) {
    const app = await siteApi(t, standIn('secondary'), { isUp, reasons: ['the log'] })
    const answer = await app.inject('/notification/healthCheck')
    t.equal(answer.statusCode, status)
    t.same(answer.json(), { status: word, reasons: isUp ? [] : ['the log'] })
    t.equal((await app.inject('/ops/health/live')).statusCode, 200)
    t.equal((await app.inject('/ops/health/ready')).statusCode, 200)
  }
  const { server, streams } = await testApi(t)
  t.equal((await server.app.inject('/notification/healthCheck')).statusCode, streams.readiness().ready ? 200 : 500)
  t.equal((await server.app.inject('/site')).statusCode, 404, 'a single site has no such path')
})

interface Asked {
  readonly method: string
  readonly url: string
  readonly body: string
  readonly hop: unknown
}

/** Another process, which takes whatever it is asked; `asked` tells what that was. */
async function listener(t: Test, hopHeader: string) {
  const asked: Asked[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (bytes: Buffer) => (body += bytes.toString()))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      asked.push({ method, url, body, hop: headers[hopHeader] })
      response
        .writeHead(202, { 'content-type': 'application/json', 'x-pulsefold-position': 'j/0/1' })
        .end('{"accepted":1}')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = (): void => {
    server.close()
    server.closeAllConnections()
  }
  t.teardown(close)
  return { asked, close, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

t.test('a site that is not active refuses to be read, and passes writing on byte for byte, once', async (t) => {
  const other = await listener(t, 'x-pulsefold-hop')
  const { asked } = other
  const stand = standIn('secondary', other.url)
  const app = await siteApi(t, stand)
  const read = await app.inject('/ncmp/v1/ch/dev-1')
  t.equal(read.statusCode, 503)
  t.match(read.headers, { 'x-pulsefold-active-site': 'primary', 'retry-after': '1' })

  const payload = '{"big":123456789012345678901234567890,  "a":1}'
  const headers = { 'content-type': 'application/json' }
  const passed = await app.inject({ method: 'POST', url: '/events?topic=x', payload, headers })
  t.equal(passed.statusCode, 202)
  t.match(passed.headers, { 'x-pulsefold-position': 'j/0/1', 'x-pulsefold-active-site': 'primary' })
  t.same(asked, [{ method: 'POST', url: '/events?topic=x', body: payload, hop: '1' }])
  const hopped = await app.inject({
    method: 'POST',
    url: '/events',
    payload,
    headers: { ...headers, 'x-pulsefold-hop': '1' },
  })
  t.match(hopped.json(), { code: 'SITE_NOT_ACTIVE' })
  t.equal(asked.length, 1)

  other.close()
  const lost = await app.inject({ method: 'POST', url: '/events', payload, headers })
  t.match(lost.json(), { status: 503, code: 'SITE_NOT_ACTIVE' })
  t.match(lost.headers, { 'x-pulsefold-active-site': 'primary' })

  stand.record = { ...initialRecord, phase: 'PRELOAD', target: 'secondary', oldAlive: false }
  t.not(
    (await app.inject('/ncmp/v1/ch/dev-1')).statusCode,
    503,
    'who takes over from a dead site answers as far as it can',
  )
  stand.record = { ...initialRecord, active: 'secondary' }
  t.equal((await app.inject({ method: 'GET', url: '/ops/topology' })).statusCode, 200)
  t.not((await app.inject('/ncmp/v1/ch/dev-1')).statusCode, 503)
})

t.test(
  'of several instances the one that leads answers for the site, and for what the others cannot yet',
  async (t) => {
    const leader = await listener(t, 'x-pulsefold-instance-hop')
    const stand = standIn('primary')
    stand.leaderUrl = leader.url
    const app = await siteApi(t, stand)
    for (const url of ['/site', '/site/failover', '/site/record', '/site/drill']) {
      const method = url === '/site' ? 'GET' : 'POST'
      t.equal((await app.inject({ method, url })).statusCode, 202, url)
    }
    t.same(
      leader.asked.map(({ url, hop }) => [url, hop]),
      ['/site', '/site/failover', '/site/record', '/site/drill'].map((url) => [url, '1']),
    )
    t.equal((await app.inject('/site/digests')).statusCode, 200, 'read from the log, so anybody can')
    t.equal((await app.inject('/notification/healthCheck')).statusCode, 200)
    t.equal((await app.inject('/ncmp/v1/ch/dev-1')).statusCode, 404, 'it has its share of the tasks')
    t.equal(leader.asked.length, 4)

    stand.isServing = false
    t.equal((await app.inject('/ncmp/v1/ch/dev-1')).statusCode, 202, 'it has not joined the others yet')
    const headers = { 'x-pulsefold-instance-hop': '1' }
    t.match((await app.inject({ url: '/site', headers })).json(), { site: 'primary' }, 'never passed on twice')
    t.equal(leader.asked.length, 5)

    leader.close()
    t.match((await app.inject('/site')).json(), { site: 'primary', phase: 'STEADY' }, 'how it stands it knows itself')
    t.match((await app.inject({ method: 'POST', url: '/site/failover' })).json(), { code: 'SITE_NOT_ACTIVE' })
    stand.leaderUrl = undefined
    t.match((await app.inject('/ncmp/v1/ch/dev-1')).statusCode, 404)
  },
)

t.test('what is passed on goes to the other site only, whatever host its path names', async (t) => {
  const asked: string[] = []
  const listener = async (name: string): Promise<string> => {
    const server = createServer((request, response) => {
      asked.push(`${name} ${request.url}`)
      response.end()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => {
      server.close()
      server.closeAllConnections()
    })
    return `127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  const elsewhere = await listener('elsewhere')
  const app = await siteApi(t, standIn('secondary', `http://${await listener('other site')}`))
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const post = async (path: string): Promise<number | undefined> => {
    const [answer] = (await once(sending({ port, method: 'POST', path }).end(), 'response')) as [IncomingMessage]
    answer.resume()
    return answer.statusCode
  }
  t.equal(await post(`//${elsewhere}/secret`), 200)
  t.equal(await post(`http://${elsewhere}/secret`), 503)
  t.same(asked, [`other site //${elsewhere}/secret`])
})

t.test('what the sites ask each other is for who shows the token, and carries journals whole', async (t) => {
  const stand = standIn('primary', 'http://127.0.0.1:9', 'secret')
  const app = await siteApi(t, stand)
  const headers = { authorization: 'Bearer secret', 'content-type': 'application/json' }
  for (const authorization of [undefined, 'Bearer wrong']) {
    const refused = await app.inject({ url: '/site/digests', headers: { ...(authorization && { authorization }) } })
    t.match(refused.json(), { status: 401, code: 'SITE_UNKNOWN' })
  }
  const put = (payload: object) => app.inject({ method: 'PUT', url: '/site/record', headers, payload })
  t.match((await put(initialRecord)).json(), { accepted: true, record: initialRecord })
  stand.record = { ...initialRecord, epoch: 5 }
  t.match(await put(initialRecord), { statusCode: 409 })
  t.match((await put({ ...initialRecord, phase: 'ODD' })).json(), { code: 'BODY_INVALID' })
  t.same((await app.inject({ url: '/site/digests', headers })).json(), await stand.control.digests())

  const ask = (payload: object) => app.inject({ method: 'POST', url: '/site/history', headers, payload })
  const answer = await ask({ wanted: [{ topic: 'j', partition: 1, offset: 4 }] })
  const [part] = answer.json<{ parts: unknown[] }>().parts
  t.match(historyFromJson(part), { topic: 'j', partition: 1, records: [{ offset: 4, value: Buffer.from('block') }] })
  for (const payload of [
    {},
    { wanted: 1 },
    { wanted: [{ topic: 'j', partition: -1, offset: 0 }] },
    { wanted: [null] },
  ]) {
    t.match((await ask(payload)).json(), { code: 'BODY_INVALID' })
  }
  const gap = { topic: 'j', partition: 0, incarnation: 'i', start: 2, end: 5, next: 5 }
  const records = [{ offset: 3, timestamp: 1, key: null, value: null, headers: [] }]
  t.same(historyFromJson(historyToJson({ ...gap, records })), { ...gap, records })
})

t.test('a drill runs on a waiting site only', async (t) => {
  const stand = standIn('secondary')
  const app = await siteApi(t, stand)
  t.match((await app.inject({ method: 'POST', url: '/site/drill' })).json(), { equal: true, events: 5 })
  const drill = async () => (await app.inject({ method: 'POST', url: '/site/drill' })).json<object>()
  const { control } = standIn('secondary')
  stand.control.drill = () => Promise.resolve({ ok: false, reason: 'unreachable', message: 'no answer' })
  t.match(await drill(), { status: 503, code: 'SITE_UNREACHABLE', message: 'no answer' })
  stand.control.drill = () => Promise.resolve({ ok: false, reason: 'conflict', message: 'a switch has begun' })
  t.match(await drill(), { status: 409, code: 'SITE_CONFLICT', message: 'a switch has begun' })
  stand.control.drill = (signal) => control.drill(signal)
  stand.record = { ...initialRecord, target: 'secondary', phase: 'PRELOAD' }
  t.match((await app.inject({ method: 'POST', url: '/site/drill' })).json(), { code: 'SITE_CONFLICT' })
  stand.record = { ...initialRecord, active: 'secondary' }
  t.match((await app.inject({ method: 'POST', url: '/site/drill' })).json(), { code: 'SITE_CONFLICT' })
})

t.test(
  'a drill may take longer than a connection may be idle, also asked of another instance; who leaves ends it',
  async (t) => {
    const leader = standIn('secondary')
    let aborted: AbortSignal | undefined
    let begun = (): void => undefined
    leader.control.drill = (signal) => {
      aborted = signal
      begun()
      return once(signal, 'abort').then(() => Promise.reject(new Error('ended')))
    }
    const follower = standIn('secondary')
    const [leading, following] = [await siteApi(t, leader), await siteApi(t, follower)]
    const sockets = new Map<string, Socket[]>()
    for (const [name, app] of Object.entries({ leading, following })) {
      sockets.set(name, [])
      app.server.on('connection', (socket: Socket) => sockets.get(name)?.push(socket))
      await app.listen({ port: 0, host: '127.0.0.1' })
    }
    const portOf = (app: typeof leading): number => (app.server.address() as AddressInfo).port
    follower.leaderUrl = `http://127.0.0.1:${portOf(leading)}`
    for (const asked of [leading, following]) {
      const hasBegun = new Promise<void>((resolve) => (begun = resolve))
      const caller = sending({ port: portOf(asked), method: 'POST', path: '/site/drill' })
      caller.on('error', () => undefined).end()
      await hasBegun
      const waiting = [sockets.get('leading')?.at(-1), asked === following && sockets.get('following')?.at(-1)]
      for (const socket of waiting) if (socket) t.equal(socket.timeout, 0, 'it is not closed for being idle')
      caller.destroy()
      if (aborted?.aborted !== true) await once(aborted!, 'abort')
    }
    const status = sending({ port: portOf(leading), path: '/site' }).end()
    const [answer] = (await once(status, 'response')) as [IncomingMessage]
    answer.resume()
    t.ok((sockets.get('leading')?.at(-1)?.timeout ?? 0) > 0, 'others are')
  },
)
