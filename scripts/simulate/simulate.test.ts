import { once } from 'node:events'
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { request } from 'undici'
import { manualClock } from '../../common/manual-clock.js'
import { startDmiPlugin } from './dmi-plugin.js'
import { expectationOf } from './expectation.js'
import { isAsExpected, type Report } from './report.js'
import { simulateTrustLevels, type SimulateOptions } from './simulate.js'

const options: Omit<SimulateOptions, 'url'> = {
  devices: 60,
  plugins: 3,
  outages: 2,
  failureShare: 0.3,
  intervalMs: 10_000,
  durationMs: 30_000,
  seed: 13, // plugins that reset and that say DOWN
  cleanUp: false,
}

interface Faults {
  /** Heartbeats of this device are lost. */
  readonly deaf?: string
  /** The first so many posts of heartbeats are answered 503. */
  busy?: number
}

/** The part of Pulsefold's interface that a simulation uses, on maps; it checks plugins whenever it is asked for them. */
async function smallPulsefold(t: Test, faults: Faults = {}) {
  const handles = new Map<string, { plugin: string; own: string }>()
  const levels = new Map<string, string>()
  let offset = 0
  const trustLevel = (cmHandle: string) => {
    const handle = handles.get(cmHandle)
    return handle === undefined ? undefined : levels.get(handle.plugin) === 'NONE' ? 'NONE' : handle.own
  }
  const checkPlugins = async () => {
    for (const [plugin, before] of levels) {
      const status = await request(`${plugin}/manage/health/readiness`)
        .then(({ body }) => body.json())
        .catch(() => null)
      const level = (status as { status?: string } | null)?.status === 'UP' ? 'COMPLETE' : 'NONE'
      levels.set(plugin, level)
      if (before === 'COMPLETE' || level === 'NONE') continue
      for (const handle of handles.values()) if (handle.plugin === plugin) handle.own = 'COMPLETE'
    }
  }
  const register = (body: Registration): readonly [number, unknown] => {
    levels.set(body.dmiPlugin, 'COMPLETE')
    for (const cmHandle of body.removedCmHandles) handles.delete(cmHandle)
    const isNew = ({ cmHandle }: { cmHandle: string }) => !handles.has(cmHandle)
    const failed = body.createdCmHandles.filter((handle) => !isNew(handle))
    for (const { cmHandle } of body.createdCmHandles.filter(isNew)) {
      handles.set(cmHandle, { plugin: body.dmiPlugin, own: 'COMPLETE' })
    }
    if (failed.length === 0) return [200, '']
    return [500, { failedCreatedCmHandles: failed.map(({ cmHandle }) => ({ cmHandle, errorCode: '109' })) }]
  }
  const take = (events: readonly HeartbeatEvent[]): readonly [number, unknown] => {
    if ((faults.busy ?? 0) > 0) {
      faults.busy = (faults.busy ?? 0) - 1
      return [503, '']
    }
    for (const { id, data } of events) {
      const handle = handles.get(id)
      if (handle !== undefined && id !== faults.deaf) handle.own = data.data.trustLevel
    }
    return [202, { accepted: events.length, positions: [{ topic: 'journal', partition: 0, offset: (offset += 1) }] }]
  }
  const answer = async (method: string, path: string, body: unknown): Promise<readonly [number, unknown]> => {
    if (path === '/actuator/health') return [200, { status: 'UP' }]
    if (path === '/ncmpInventory/v1/ch') return register(body as Registration)
    if (path === '/events') return take(body as HeartbeatEvent[])
    if (path === '/ops/dmi-plugins') {
      await checkPlugins()
      return [200, [...levels].map(([plugin, level]) => ({ plugin, trustLevel: level }))]
    }
    if (method === 'GET') return [200, { trustLevel: trustLevel(decodeURIComponent(path.split('/').at(-1) ?? '')) }]
    const [condition] = (body as Search).cmHandleQueryParameters
    return [200, [...handles.keys()].filter((id) => trustLevel(id) === condition?.conditionParameters[0]?.trustLevel)]
  }
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    void request.toArray().then(async (chunks: Buffer[]) => {
      const text = Buffer.concat(chunks).toString()
      const body: unknown = text === '' ? null : JSON.parse(text)
      const [status, result] = await answer(request.method ?? '', request.url ?? '', body)
      response.writeHead(status).end(JSON.stringify(result))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, handles }
}

interface Registration {
  dmiPlugin: string
  removedCmHandles: string[]
  createdCmHandles: { cmHandle: string }[]
}
interface HeartbeatEvent {
  id: string
  data: { data: { trustLevel: string } }
}
interface Search {
  cmHandleQueryParameters: { conditionParameters: { trustLevel: string }[] }[]
}

/** Runs to the end while time passes in steps. */
async function simulated(url: string, changes: Partial<SimulateOptions> = {}): Promise<Report> {
  const clock = manualClock()
  const progress = { update: () => undefined, step: () => undefined, stop: () => undefined }
  const signal = new AbortController().signal
  let isOver = false
  const report = simulateTrustLevels({ ...options, url, ...changes }, { clock, signal, progress }).finally(() => {
    isOver = true
  })
  report.catch(() => undefined)
  while (!isOver) {
    await clock.advance(10)
    await setImmediate()
  }
  return report
}

t.test(
  'a run against a Pulsefold that does right is as expected, again with the same seed, and cleans up',
  async (t) => {
    const pulsefold = await smallPulsefold(t, { busy: 2 })
    const report = await simulated(pulsefold.url)
    t.ok(isAsExpected(report), JSON.stringify(report))
    t.match(report, { devices: 60, retries: 2, reads: { asked: 60 } })
    t.ok(report.heartbeats.NONE > 20 && report.heartbeats.COMPLETE + report.heartbeats.NONE >= 180)
    t.equal(report.outages.filter(({ seenDownMs }) => seenDownMs !== null).length, 2)
    t.equal(report.outages.filter(({ seenUpMs }) => seenUpMs !== null).length, 1)
    t.equal(pulsefold.handles.size, 60)

    const again = await simulated(pulsefold.url, { cleanUp: true })
    t.ok(isAsExpected(again), JSON.stringify(again))
    t.same(
      again.outages.map(({ kind }) => kind),
      report.outages.map(({ kind }) => kind),
    )
    t.equal(pulsefold.handles.size, 0)
  },
)

t.test('a Pulsefold that loses the heartbeats of one device is found out', async (t) => {
  const { url } = await smallPulsefold(t, { deaf: 'sim-13-00005' })
  const report = await simulated(url, { failureShare: 1, outages: 0 })
  t.notOk(isAsExpected(report))
  t.match(report.searches, [{ missing: ['sim-13-00005'] }, { unexpected: ['sim-13-00005'] }])
  t.same(report.reads.different, [{ cmHandle: 'sim-13-00005', expected: 'NONE', actual: 'COMPLETE' }])
})

t.test('only http addresses on loopback are played to', async (t) => {
  for (const url of ['http://10.0.0.1:8080', 'http://pulsefold.example', 'https://127.0.0.1:8080', 'file:///', 'x']) {
    await t.rejects(simulated(url), { code: 'SIMULATION_TARGET_NOT_LOOPBACK' }, url)
  }
})

t.test('an address where nobody answers is said to be so at once', async (t) => {
  const plugin = await startDmiPlugin()
  await plugin.close()
  await t.rejects(simulated(plugin.address), { code: 'SIMULATION_NO_ANSWER' })
})

t.test('a server that is no Pulsefold is refused with what it answered', async (t) => {
  const plugin = await startDmiPlugin()
  t.teardown(() => plugin.close())
  await t.rejects(simulated(plugin.address), { code: 'SIMULATION_REFUSED', message: /answered 404 instead of 200/ })
})

t.test('a simulated plugin is up, and down in each way that it can be', async (t) => {
  const plugin = await startDmiPlugin()
  t.teardown(() => plugin.close())
  const ask = async (path: string) => {
    const answer = await request(plugin.address + path)
    return [answer.statusCode, await answer.body.json()]
  }
  const up = [200, { status: 'UP' }]
  t.same(await ask('/manage/health/readiness'), up)
  t.match(await ask('/actuator/health'), [404])
  plugin.setOutage('answers 503')
  t.same(await ask('/manage/health/readiness'), [503, { status: 'DOWN' }])
  plugin.setOutage('says DOWN')
  t.same(await ask('/manage/health/readiness'), [200, { status: 'DOWN' }])
  plugin.setOutage('resets connections')
  await t.rejects(ask('/manage/health/readiness'), { code: 'ECONNRESET' })

  plugin.setOutage('never answers')
  const silent = get(plugin.address + '/manage/health/readiness', { headers: { expect: '100-continue' } })
  silent.on('error', () => undefined).on('response', () => t.fail('this one is not answered'))
  await once(silent, 'continue')
  plugin.setOutage(null)
  t.same(await ask('/manage/health/readiness'), up)
  silent.destroy()
})

t.test('what is expected is the lower of device and plugin', async (t) => {
  const expectation = expectationOf([
    { cmHandle: 'a', plugin: 0 },
    { cmHandle: 'b', plugin: 1 },
  ])
  const levels = () => [expectation.trustLevel(0), expectation.trustLevel(1)]
  t.same(levels(), ['COMPLETE', 'COMPLETE'])
  expectation.reported(0, 'NONE')
  t.same(levels(), ['NONE', 'COMPLETE'])
  expectation.pluginIs(1, 'NONE')
  expectation.reported(1, 'COMPLETE')
  t.same(levels(), ['NONE', 'NONE'])
  expectation.pluginIs(1, 'COMPLETE')
  expectation.reported(0, 'COMPLETE')
  t.same(levels(), ['COMPLETE', 'COMPLETE'])
})
