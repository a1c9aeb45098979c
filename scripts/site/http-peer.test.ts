import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import type { Test } from 'tap'
import { initialRecord } from '../../processors/site/index.js'
import { httpPeer } from './http-peer.js'

/** What stands where the other site should, and answers with this. */
async function peerThatSays(t: Test, said: { status?: number; body: unknown }) {
  const server = createServer((request, response) => {
    request.resume()
    const text = typeof said.body === 'string' ? said.body : JSON.stringify(said.body)
    response.writeHead(said.status ?? 200, { 'content-type': 'application/json' }).end(text)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const peer = httpPeer({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: '' })
  t.teardown(async () => {
    await peer.close()
    server.close()
  })
  return peer
}

const view = {
  record: initialRecord,
  healthy: true,
  consumes: false,
  ends: [{ topic: 'j', partition: 0, end: 3 }],
  progress: { loadedTo: 1, eventsPerSecond: 2, etaMs: null, events: 3, knownFrom: 0 },
  overlap: { from: 1, to: 2, events: 3 },
  accepted: true,
}
const part = { topic: 'j', partition: 0, incarnation: 'i', start: 0, end: 2, next: 2, records: [[1, 7, 'YQ==']] }
const never = new AbortController().signal

t.test('what the other site says is taken as it is', async (t) => {
  const said: { status?: number; body: unknown } = { body: view }
  const peer = await peerThatSays(t, said)
  t.same(await peer.exchange(initialRecord), view)
  said.status = 409
  t.same(await peer.exchange(initialRecord), view, 'one that does not accept tells how it stands')
  said.status = 200
  said.body = { ...view, progress: {}, overlap: 'none' }
  t.match(await peer.exchange(initialRecord), { progress: { events: 0 }, overlap: null }, 'what is only told may lack')
  said.body = { parts: [part] }
  t.match(await peer.history([], never), [
    { topic: 'j', records: [{ offset: 1, timestamp: 7, value: Buffer.from('a') }] },
  ])
  said.body = { status: 'failovering', epoch: 2, phase: 'PRELOAD' }
  t.same(await peer.act('failover', { actor: '', reason: '' }), { ok: true, ...(said.body as object) })
  said.body = [{ domain: 'd', partition: 0, offset: 1, digest: 'ab' }]
  t.same(await peer.digests(), said.body)
  t.ok(await peer.isHealthy())
})

const rubbish: readonly unknown[] = ['', '<html>', 'null', [], {}, { parts: null }, { parts: [null] }, 7]
const records: readonly unknown[] = [
  { ...initialRecord, phase: 'ODD' },
  { ...initialRecord, epoch: -1 },
  { ...initialRecord, epoch: Number.MAX_SAFE_INTEGER },
  { ...initialRecord, since: 9e15 },
  { ...initialRecord, report: 'not JSON' },
  { ...initialRecord, report: '7' },
]
const views: readonly unknown[] = [
  ...records.map((record) => ({ ...view, record })),
  { ...view, consumes: 'no' },
  { ...view, accepted: 1 },
  { ...view, ends: [{ topic: 'j', partition: 0 }] },
]
const parts: readonly unknown[] = [
  { ...part, end: '2' },
  { ...part, next: -1 },
  { ...part, records: [[1, 7]] },
  { ...part, records: [['1', 7, null]] },
  { ...part, records: {} },
].map((one) => ({ parts: [one] }))

t.test('whatever else answers in its place is no answer', async (t) => {
  const said: { status?: number; body: unknown } = { body: '' }
  const peer = await peerThatSays(t, said)
  for (const body of [...rubbish, ...views, ...parts, { status: 'gone', epoch: 1, phase: 'x' }]) {
    said.body = body
    const text = JSON.stringify(body)
    await t.rejects(peer.exchange(initialRecord), text)
    await t.rejects(peer.history([], never), text)
    await t.rejects(peer.act('failover', { actor: '', reason: '' }), text)
    if (!Array.isArray(body)) await t.rejects(peer.digests(), text)
  }
  said.body = [null]
  await t.rejects(peer.digests())
  for (const status of [204, 302, 401, 404, 500, 503]) {
    said.status = status
    said.body = status === 204 ? '' : view
    await t.rejects(peer.exchange(initialRecord), String(status))
    await t.rejects(peer.act('abort', { actor: '', reason: '' }), String(status))
    t.notOk(await peer.isHealthy())
  }
})
