import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import t from 'tap'
import { PLUGIN, temporaryFolder } from './fixtures.js'
import { inFull } from './full-length.js'
import { spawnPulsefold } from './real-process.js'
import { until } from './until.js'

t.test('ME-08 an idle service costs next to nothing', async (t) => {
  const running = spawnPulsefold(t, temporaryFolder(t), { values: { partitions: 12 } })
  await running.ready
  const cpu = (): Promise<number> => running.metric('process_cpu_seconds_total')
  // The start itself has to be over: its lazily compiled code, its first garbage.
  const share = async (): Promise<number> => {
    const [before, beganAt] = [await cpu(), performance.now()]
    const wholeMs = inFull(5 * 60_000, 5000)
    await until('a while', () => performance.now() - beganAt > wholeMs, 2 * wholeMs)
    return ((await cpu()) - before) / ((performance.now() - beganAt) / 1000)
  }
  await until('the process is idle', async () => (await share()) < inFull(1, 3) * 0.03, 60_000)
  running.kill('SIGTERM')
  const { code, log } = await running.ended
  t.equal(code, 0)
  t.notMatch(log.join('\n'), /TimeoutNegativeWarning/)
})

t.test('ME-03 clients drop searches half-way', async (t) => {
  const running = spawnPulsefold(t, temporaryFolder(t))
  const { hostname, port } = new URL(await running.ready)
  const ids = Array.from({ length: 10_000 }, (_, i) => `dev-${i}`)
  await running.register(PLUGIN, ids)
  const memory = (): Promise<number> => running.metric('process_resident_memory_bytes')
  const dropped = (): Promise<void> =>
    new Promise((resolve) => {
      const headers = { 'content-type': 'application/json' }
      const request = httpRequest({
        hostname,
        port,
        path: '/ncmp/v1/ch/searches',
        method: 'POST',
        headers,
        agent: false,
      })
      request.on('error', () => undefined)
      request.on('close', resolve)
      request.on('response', (response) => response.on('error', () => undefined))
      request.end('{}')
      setTimeout(() => request.destroy(), 5)
    })
  const drop = async (count: number): Promise<void> => {
    for (let sent = 0; sent < count; sent += 50) await Promise.all(Array.from({ length: 50 }, dropped))
  }
  await Promise.all(Array.from({ length: 8 }, () => running.ask('/ncmp/v1/ch/searches', { body: {} })))
  // The heap finds its size in the first rounds; what leaks grows in each of them.
  let growth = Infinity
  for (let round = 0; round < 4 && growth > 1.2; round++) {
    const before = await memory()
    await drop(2000)
    await until('no iterator is open', async () => (await running.metric('pulsefold_store_open_iterators')) === 0)
    growth = (await memory()) / before
  }
  t.ok(growth <= 1.2, `the memory is ${growth} times that of before`)
  t.equal((await running.search()).length, ids.length)
  running.kill('SIGTERM')
  t.equal((await running.ended).code, 0)
})

t.test('SE-06 slow bodies and slow headers are ended, others are answered meanwhile', async (t) => {
  const running = spawnPulsefold(t, temporaryFolder(t))
  const { hostname, port } = new URL(await running.ready)
  await running.register(PLUGIN, ['dev-1'])
  const slow = Array.from({ length: inFull(600, 120) }, (_, i) => {
    const socket = connect(Number(port), hostname)
    const head =
      'POST /ncmp/v1/ch/searches HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n'
    socket.write(i % 2 === 0 ? head : 'GET /ncmp/v1/ch/dev-1 HTTP/1.1\r\nHos')
    const drip = setInterval(() => i % 2 === 0 && socket.write(' '), 5000)
    socket.on('error', () => undefined)
    socket.on('close', () => clearInterval(drip))
    socket.resume()
    return socket
  })
  t.teardown(() => slow.forEach((socket) => socket.destroy()))
  const latencies: number[] = []
  await until(
    'all slow ones are closed',
    async () => {
      const askedAt = performance.now()
      if ((await running.level('dev-1')) !== 'COMPLETE') t.fail('a look-up in between')
      latencies.push(performance.now() - askedAt)
      return slow.every((socket) => socket.destroyed)
    },
    inFull(1, 3) * 30_000,
  )
  latencies.sort((a, b) => a - b)
  const p95 = latencies[Math.floor(latencies.length * 0.95)]!
  t.comment(`look-ups take ${p95} ms at p95`)
  t.ok(p95 < inFull(100, Infinity))
})
