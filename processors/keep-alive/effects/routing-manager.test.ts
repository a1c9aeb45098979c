import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { systemClock } from '../../../common/clock.js'
import { manualClock } from '../../../common/manual-clock.js'
import type { EffectRequest, Effector } from '../../../topology/processor.js'
import { routingManagerEffectors } from './routing-manager.js'

const request: EffectRequest = {
  id: 'e1',
  kind: 'routing-manager-call',
  target: 'rm',
  payload: { ric: 'R', call: 'a\u0000', method: 'DELETE', path: 'e2t', body: { E2TAddress: 'a' } },
}

interface Got {
  readonly line: string
  readonly body: string
}

/** A Routing Manager that answers with these statuses, one after the other; 0: not at all. */
async function routingManager(
  t: { teardown(close: () => void): void },
  ...statuses: number[]
): Promise<{ readonly url: string; readonly got: Got[] }> {
  const got: Got[] = []
  const server = createServer((incoming, answer) => {
    let body = ''
    incoming.setEncoding('utf8').on('data', (part: string) => (body += part))
    incoming.on('end', () => {
      got.push({ line: `${incoming.method} ${incoming.url}`, body })
      const status = statuses.shift() ?? 201
      if (status > 0) answer.writeHead(status).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/ric/v1/handles`, got }
}

const effectors = (url: string, clock = systemClock): readonly [call: Effector, attempt: Effector] =>
  routingManagerEffectors({ clock, url }) as unknown as readonly [Effector, Effector]
const never = new AbortController().signal

t.test('a call goes to the path below the base address, and its outcome is an event', async (t) => {
  const { url, got } = await routingManager(t, 201, 204, 400, 422)
  const [call] = effectors(url)
  for (const [succeeded, outcome] of [
    [true, 'answered 201'],
    [true, 'answered 204'],
    [false, 'answered 400'],
    [false, 'answered 422'],
  ] as const) {
    t.strictSame(await call.perform(request, never), {
      type: 'RoutingManagerCalled',
      data: { ric: 'R', call: 'a\u0000', effectId: 'e1', succeeded, outcome },
    })
  }
  t.strictSame(got[0], { line: 'DELETE /ric/v1/handles/e2t', body: '{"E2TAddress":"a"}' })
})

t.test('HS-17 a call that is answered 500, not at all, or refused has no outcome: it is tried again', async (t) => {
  const clock = manualClock()
  const { url, got } = await routingManager(t, 500, 404, 0)
  const [call] = effectors(url, clock)
  await t.rejects(call.perform(request, never), { message: 'Routing Manager: DELETE e2t: answered 500' })
  await t.rejects(call.perform(request, never), { message: /answered 404/ })
  const hung = call.perform(request, never)
  hung.catch(() => undefined)
  while (got.length < 3) await new Promise((resolve) => setImmediate(resolve))
  await clock.advance(2000)
  await t.rejects(hung, { message: /no answer within 2000 ms/ })
  await t.rejects(effectors('http://127.0.0.1:1/')[0].perform(request, never), { message: /ECONNREFUSED/ })
})

t.test('an attempt has three tries, and fails then', async (t) => {
  const clock = manualClock()
  const { url, got } = await routingManager(t, 500, 503, 201, 500, 500, 500)
  const [, attempt] = effectors(url, clock)
  const outcome = async (): Promise<unknown> => {
    let event: unknown
    void attempt.perform(request, never).then((result) => (event = result.data))
    while (event === undefined) {
      await new Promise((resolve) => setImmediate(resolve))
      await clock.advance(10)
    }
    return event
  }
  t.match(await outcome(), { succeeded: true, outcome: 'answered 201' })
  t.equal(got.length, 3)
  t.match(await outcome(), { succeeded: false, outcome: 'answered 500' })
  t.equal(got.length, 6)
})

t.test('without a Routing Manager what it would be told counts as told', async (t) => {
  t.match(await effectors('')[0].perform(request, never), {
    data: { succeeded: true, outcome: 'no Routing Manager is set' },
  })
})

t.test('the end of a term ends a call', async (t) => {
  const { url, got } = await routingManager(t, 0)
  const term = new AbortController()
  const hung = effectors(url)[0].perform(request, term.signal)
  hung.catch(() => undefined)
  while (got.length === 0) await new Promise((resolve) => setImmediate(resolve))
  term.abort()
  await t.rejects(hung)
})
