import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request as httpRequest } from 'node:http'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import t from 'tap'
import { PLUGIN, temporaryFolder } from './fixtures.js'
import { spawnPulsefold } from './real-process.js'
import { until } from './until.js'

const ids = Array.from({ length: 500 }, (_, i) => `dev-${i}`)

t.test('SH-03 SIGTERM under look-ups and searches ends with 0', async (t) => {
  const running = spawnPulsefold(t, temporaryFolder(t))
  await running.ready
  await running.register(PLUGIN, ids)
  const statuses = new Set<number>()
  let asked = 0
  const lane = async (which: number): Promise<void> => {
    for (let n = which; ; n++) {
      const path = n % 5 === 0 ? '/ncmp/v1/ch/id-searches' : `/ncmp/v1/ch/${ids[n % ids.length]}`
      try {
        statuses.add((await running.ask(path, n % 5 === 0 ? { body: {} } : {})).status)
      } catch {
        return
      }
      asked++
    }
  }
  const lanes = Promise.all(Array.from({ length: 16 }, (_, which) => lane(which)))
  await until('a load', () => asked > 1000)
  running.kill('SIGTERM')
  const { code, signal } = await running.ended
  await lanes
  t.same([code, signal], [0, null])
  for (const status of statuses) t.ok(status === 200 || status === 503, String(status))
})

t.test('SH-05 keep-alive connections at shutdown', async (t) => {
  const running = spawnPulsefold(t, temporaryFolder(t))
  const { hostname, port } = new URL(await running.ready)
  const idle = Array.from({ length: 10 }, () => new Agent({ keepAlive: true }))
  t.teardown(() => idle.forEach((agent) => agent.destroy()))
  await Promise.all(
    idle.map(async (agent) => {
      const [answer] = (await once(
        httpRequest({ agent, hostname, port, path: '/ops/health/live' }).end(),
        'response',
      )) as [IncomingMessage]
      answer.resume()
      await once(answer, 'end')
    }),
  )
  const text = JSON.stringify({ dmiPlugin: PLUGIN, createdCmHandles: ids.map((cmHandle) => ({ cmHandle })) })
  const begin = async (): Promise<ClientRequest> => {
    const headers = { 'content-type': 'application/json', 'content-length': text.length }
    const request = httpRequest({ hostname, port, path: '/ncmp/v1/ch/id-searches', method: 'POST', headers })
    request.on('error', () => undefined)
    request.write('{"cmHandleQueryParameters":[]')
    await until('the connection stands', () => request.socket !== null && request.socket.bytesWritten > 100)
    return request
  }
  const finish = async (request: ClientRequest): Promise<number> => {
    request.end(`${' '.repeat(text.length - '{"cmHandleQueryParameters":[]'.length - 1)}}`)
    const [answer] = (await once(request, 'response')) as [IncomingMessage]
    answer.resume()
    await once(answer, 'end')
    return answer.statusCode ?? 0
  }
  const [slow, soonIdle] = [await begin(), await begin()]
  await running.ask('/ops/health/live')
  running.kill('SIGTERM')
  await until('new requests are refused', async () => {
    try {
      return (await running.ask('/ncmp/v1/ch/dev-1', { headers: { connection: 'close' } })).status === 503
    } catch {
      return true
    }
  })
  t.equal(await finish(soonIdle), 200, 'a request under way at the signal is answered')
  t.equal(await finish(slow), 200, 'the slow one too')
  const { code } = await running.ended
  t.equal(code, 0)
})

for (const log of ['file', 'pipe'] as const) {
  t.test(`SH-06 the reason of the end is the last line, with the log on a ${log}`, async (t) => {
    const folder = temporaryFolder(t)
    const wrongSettings = await spawnPulsefold(t, folder, { log, flags: ['--commit-interval-ms=soon'] }).ended
    t.equal(wrongSettings.code, 78)
    t.match(wrongSettings.last, { level: 'fatal', err: { code: 'SETTINGS_INVALID' } })

    const store = join(folder, 'data', 'stores', 'trust-level-0')
    mkdirSync(dirname(store), { recursive: true })
    writeFileSync(store, '')
    const fatal = await spawnPulsefold(t, folder, { log }).ended
    t.equal(fatal.code, 69)
    t.match(fatal.last, { level: 'fatal', msg: 'cannot start', err: { code: 'STORE_NOT_A_DIRECTORY' } })
    rmSync(store)

    const file = join(folder, 'file')
    writeFileSync(file, '')
    const noDirectory = await spawnPulsefold(t, folder, { log, flags: [`--data-dir=${file}`] }).ended
    t.equal(noDirectory.code, 69)
    t.match(noDirectory.last, {
      err: { code: 'STORE_NOT_A_DIRECTORY', action: /Move it away, or set another dataDir/ },
    })

    const running = spawnPulsefold(t, folder, { log })
    await running.ready
    running.kill('SIGTERM')
    const stopped = await running.ended
    t.equal(stopped.code, 0)
    t.match(stopped.last, { level: 'info', msg: 'stopped' })
    for (const { log: lines, out } of [wrongSettings, fatal, stopped])
      t.notMatch([...lines, out].join('\n'), /not ready yet/)
  })
}

t.test('SE-04 line breaks and terminal codes in ids, paths and the user agent', async (t) => {
  const running = spawnPulsefold(t, temporaryFolder(t), { values: { logLevel: 'trace' } })
  const url = await running.ready
  const ids = ['dev-1\n{"level":30,"msg":"admin login ok"}', 'dev-2\u001b[31mred\u001b[0m', 'dev-3\u202Eevil']
  await running.register(PLUGIN, ['dev-9'])
  for (const id of ids) {
    const event = { specversion: '1.0', id, source: 'test\nsource', type: 'org.onap.cm.events.trustlevel-notification' }
    const body = { ...event, data: { trustLevel: 'NONE' } }
    await running.ask('/events', { body, headers: { 'content-type': 'application/cloudevents+json' } })
    await running.ask('/events', {
      body: { ...body, source: 's' },
      headers: { 'content-type': 'application/cloudevents+json' },
    })
    await running.ask(`/ncmp/v1/ch/${encodeURIComponent(id)}`, {
      headers: { 'user-agent': 'x\u001b[2J'.replace('\u001b', '\u009b') },
    })
    await running.registration({ dmiPlugin: PLUGIN, createdCmHandles: [{ cmHandle: id }] })
  }
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write('GET /ncmp/v1/ch/a\u001b[31m HTTP/1.1\r\nHost: x\r\nUser-Agent: a\u001b[31m\r\n\r\n')
  socket.resume()
  await until('the malformed request is answered', () => socket.bytesRead > 0 || socket.destroyed)
  socket.destroy()
  t.equal(await running.level('dev-9'), 'COMPLETE')
  running.kill('SIGTERM')
  const { code, log } = await running.ended
  t.equal(code, 0)
  t.ok(log.length > 0)
  for (const line of log) {
    const parsed = JSON.parse(line) as Record<string, unknown>
    t.not(parsed['msg'], 'admin login ok')
    t.notMatch(line, /[\u0000-\u001f\u007f-\u009f]/)
  }
})
