import { once } from 'node:events'
import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import type { Test } from 'tap'
import { systemClock } from '../../common/clock.js'
import type { PeerRequest } from '../../topology/cluster/peers.js'
import { httpPeerTransport } from './peer-transport.js'

/** A peer on loopback, and what it was asked. */
async function peer(t: Test, answer: RequestListener) {
  const transport = httpPeerTransport(systemClock)
  const server = createServer(answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  t.teardown(async () => {
    await transport.close()
    server.closeAllConnections()
    server.close()
  })
  const post = (changed: Partial<PeerRequest> = {}) =>
    transport.post({
      ...{ url, path: '/internal/queries', token: 'secret', body: '{"a":1}' },
      ...{ timeoutMs: 10_000, maxAnswerBytes: 1000, ...changed },
    })
  return { url, server, post }
}

t.test('a call and its answer, on connections that are kept', async (t) => {
  const seen: unknown[] = []
  const { post, server, url } = await peer(t, (request, response) => {
    const { method, headers } = request
    void text(request).then((body) => {
      seen.push([method, request.url, headers.authorization, headers['x-pulsefold-protocol'], body])
      response.writeHead(seen.length === 1 ? 200 : 409).end('{"answer":"ß"}')
    })
  })
  let connections = 0
  server.on('connection', () => connections++)
  t.same(await post(), { status: 200, body: '{"answer":"ß"}' })
  t.same(await post({ url: `${url}/below/` }), { status: 409, body: '{"answer":"ß"}' })
  t.same(seen, [
    ['POST', '/internal/queries', 'Bearer secret', '1', '{"a":1}'],
    ['POST', '/below/internal/queries', 'Bearer secret', '1', '{"a":1}'],
  ])
  for (let call = 0; call < 20; call++) await post()
  t.ok(connections <= 2, `${connections} connections for 22 calls`)
})

t.test('what goes wrong, by whether the peer may have heard', async (t) => {
  const { post } = await peer(t, (request, response) => {
    if (request.url === '/breaks') response.destroy()
    else if (request.url === '/breaks-later') response.write('{"half', () => response.destroy())
    else if (request.url === '/large') response.end('x'.repeat(1001))
    else response.write('{"half')
  })
  await t.rejects(post({ url: 'http://127.0.0.1:1' }), { code: 'PEER_UNREACHABLE', message: /takes no connection/ })
  await t.rejects(post({ path: '/breaks' }), { code: 'PEER_BROKEN_OFF' })
  await t.rejects(post({ path: '/breaks-later' }), { code: 'PEER_BROKEN_OFF' })
  await t.rejects(post({ path: '/large' }), { code: 'PEER_ANSWER_TOO_LARGE' })
  await t.rejects(post({ path: '/hangs', timeoutMs: 50 }), { code: 'PEER_TIMED_OUT', message: /within 50 ms/ })
})

t.test('a caller who has gone ends the call', async (t) => {
  const gone = new AbortController()
  let closed: Promise<unknown> | undefined
  const { post } = await peer(t, (request) => {
    closed = once(request.socket, 'close')
    gone.abort(new Error('gone'))
  })
  await t.rejects(post({ signal: gone.signal }), { message: 'gone' })
  await closed
  await t.rejects(post({ signal: gone.signal }), { message: 'gone' }, 'nor is it begun')
})
