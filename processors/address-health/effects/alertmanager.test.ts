import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import type { Test } from 'tap'
import { systemClock } from '../../../common/clock.js'
import { alertmanager } from './alertmanager.js'
import type { AlertmanagerRequest } from './alertmanager-request.js'

const wanted: AlertmanagerRequest = {
  alarm: 'voicemail/1',
  platform: 'voicemail',
  address: '10.0.0.1:5060',
  startsAt: Date.UTC(2026, 10, 30, 8),
  endsAt: Date.UTC(2026, 10, 30, 9),
  text: '3 of 4 calls failed',
}

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void

async function server(t: Test, answer: Answer): Promise<string> {
  const listening = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => answer(request, response, body))
  }).listen(0, '127.0.0.1')
  await once(listening, 'listening')
  t.teardown(() => {
    listening.close()
    listening.closeAllConnections()
  })
  return `http://127.0.0.1:${(listening.address() as AddressInfo).port}`
}

const post = (url: string, deadlineMs = 5000, signal = new AbortController().signal, payload: object = wanted) =>
  alertmanager({ clock: systemClock, url, deadlineMs }).perform(
    { id: 'e', kind: 'alertmanager-post', target: wanted.alarm, payload },
    signal,
  )

t.test('posts one alert in the form of the v2 API', async (t) => {
  const asked: unknown[] = []
  const url = await server(t, ({ method, url, headers }, response, body) => {
    asked.push([method, url, headers['content-type'], JSON.parse(body)])
    response.end('{}')
  })
  t.strictSame(await post(`${url}/am/`), {
    type: 'AlarmPosted',
    data: { alarm: 'voicemail/1', posted: true, reason: 'answered 200' },
  })
  const times = { startsAt: '2026-11-30T08:00:00.000Z', endsAt: '2026-11-30T09:00:00.000Z' }
  const annotations = { description: '3 of 4 calls failed' }
  const address = { source: 'pulsefold', platform: 'voicemail', address: '10.0.0.1:5060' }
  const labels = { alertname: 'ExternalAddressFailed', ...address }
  t.strictSame(asked, [['POST', '/am/api/v2/alerts', 'application/json', [{ labels, annotations, ...times }]]])
  await post(url, 5000, undefined, { ...wanted, address: '' })
  t.match(asked[1], ['POST', '/api/v2/alerts', String, [{ labels: { alertname: 'ExternalPlatformWithoutAddress' } }]])
})

t.test('what is not taken in time has failed, with the reason in words', async (t) => {
  const busy = await server(t, (_request, response) => response.writeHead(503).end())
  t.match(await post(busy), { data: { posted: false, reason: 'answered 503' } })
  const silent = await server(t, () => undefined)
  t.match(await post(silent, 20), { data: { posted: false, reason: 'no answer within 20 ms' } })
  t.match(await post('http://127.0.0.1:1'), { data: { posted: false, reason: 'no HTTP answer (ECONNREFUSED)' } })
})

t.test('switched off it calls nothing', async (t) => {
  t.match(await post(''), { data: { posted: false, reason: /switched off/ } })
})

t.test('an attempt that is ended rejects', async (t) => {
  const ended = new AbortController()
  const url = await server(t, () => ended.abort(new Error('the term has ended')))
  await t.rejects(post(url, 5000, ended.signal), /term/)
  await t.rejects(post(url, 5000, ended.signal), /term/)
})
