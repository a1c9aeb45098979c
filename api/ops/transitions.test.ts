import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import type { IncomingMessage } from 'node:http'
import t from 'tap'
import type { Test } from 'tap'
import { manualClock } from '../../common/manual-clock.js'
import type { Processor } from '../../topology/processor.js'
import { testApi } from '../test-api.js'
import type { TestApi } from '../test-api.js'

const TOPIC = 'ncmp-inventory-events'
const processors = [{ name: 'trust-level', inputs: [], outputs: [{ topic: TOPIC }] } as unknown as Processor]
const URL_PATH = '/ops/trust-levels/transitions'

async function feedApi(t: Test, options: Parameters<typeof testApi>[1] = {}): Promise<TestApi & { url: string }> {
  const api = await testApi(t, { processors, ...options })
  const spec = { name: TOPIC, partitions: 2, cleanup: 'delete', retentionMs: -1, retentionBytes: -1 } as const
  await api.streams.log.createTopics([{ ...spec, timestampType: 'LogAppendTime' }])
  return { ...api, url: (await api.server.start()) + URL_PATH }
}

async function notice(
  api: TestApi,
  partition: number,
  cmHandle: string,
  from: string | null,
  to: string,
): Promise<void> {
  const old = from === null ? {} : { oldAttributeValue: from }
  const change = { attributeName: 'trustLevel', ...old, newAttributeValue: to }
  await api.streams.log.append(TOPIC, partition, [
    {
      key: Buffer.from(cmHandle),
      value: Buffer.from(JSON.stringify({ data: { attributeValueChange: [change] } })),
      headers: [
        ['ce_time', Buffer.from('2026-11-30T06:26:00Z')],
        ['ce_cause', Buffer.from('heartbeat')],
      ],
    },
  ])
}

/** Collects what comes until it is asked to wait for something. */
class Feed {
  text = ''
  constructor(readonly response: IncomingMessage) {
    response.setEncoding('utf8')
    response.on('data', (chunk: string) => (this.text += chunk))
    response.on('error', () => undefined)
  }

  async until(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.text)
      if (match !== null) return match
      await once(this.response, 'data')
    }
  }

  get ids(): string[] {
    return [...this.text.matchAll(/^id: (.*)$/gm)].map((match) => match[1] ?? '')
  }
}

async function follow(t: Test, url: string, headers: Record<string, string> = {}): Promise<Feed> {
  const request = httpRequest(url, { headers, agent: false })
  request.on('error', () => undefined)
  t.teardown(() => request.destroy())
  request.end()
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  t.equal(response.statusCode, 200)
  t.match(response.headers['content-type'], /^text\/event-stream/)
  return new Feed(response)
}

t.test('transitions from the beginning, as they happen, and on from the last one taken', async (t) => {
  const api = await feedApi(t)
  await notice(api, 0, 'ch-1', null, 'NONE')
  await notice(api, 1, 'ch-2', 'COMPLETE', 'NONE')
  const feed = await follow(t, `${api.url}?from=earliest`)
  await feed.until(/ch-2/)
  await notice(api, 0, 'ch-1', 'NONE', 'COMPLETE')
  await feed.until(/"new":"COMPLETE"/)
  const datas = [...feed.text.matchAll(/^data: (.*)$/gm)].map((match) => JSON.parse(match[1] ?? '') as object)
  const at = '2026-11-30T06:26:00Z'
  t.strictSame(datas, [
    { cmHandle: 'ch-1', new: 'NONE', at, cause: 'heartbeat' },
    { cmHandle: 'ch-2', old: 'COMPLETE', new: 'NONE', at, cause: 'heartbeat' },
    { cmHandle: 'ch-1', old: 'NONE', new: 'COMPLETE', at, cause: 'heartbeat' },
  ])
  t.strictSame(feed.ids, ['1,0', '1,1', '2,1'])
  const resumed = await follow(t, api.url, { 'last-event-id': '1,1' })
  await resumed.until(/id: 2,1/)
  t.strictSame(resumed.ids, ['2,1'])
})

t.test('by default only what happens from now on; records that are no notices are passed over', async (t) => {
  const api = await feedApi(t)
  await notice(api, 0, 'before', null, 'NONE')
  const feed = await follow(t, api.url)
  await feed.until(/: connected/)
  for (const value of [
    'no json',
    '{}',
    '{"data":{"attributeValueChange":[{"attributeName":"other"}]}}',
    '{"data":{"attributeValueChange":[{"attributeName":"trustLevel"}]}}',
  ]) {
    await api.streams.log.append(TOPIC, 0, [{ key: Buffer.from('k'), value: Buffer.from(value) }])
  }
  await api.streams.log.append(TOPIC, 0, [{ key: null, value: null }])
  await notice(api, 0, 'after', null, 'NONE')
  await feed.until(/after/)
  t.strictSame(feed.ids, ['7,0'])
})

t.test('a silent feed says so from time to time, and what retention deleted is passed over', async (t) => {
  const clock = manualClock()
  const api = await feedApi(t, { clock })
  await notice(api, 0, 'ch-1', null, 'NONE')
  await notice(api, 0, 'ch-2', null, 'NONE')
  await api.streams.log.deleteBefore({ topic: TOPIC, partition: 0 }, 1)
  const feed = await follow(t, api.url, { 'last-event-id': '0,0' })
  await feed.until(/ch-2/)
  t.notMatch(feed.text, /ch-1/)
  const idle = feed.until(/: idle/)
  for (let i = 0; i < 160; i++) await clock.advance(100)
  await idle
  t.pass('a comment')
})

t.test('wrong positions are refused, and so is one client too many', async (t) => {
  const api = await feedApi(t)
  const app = api.server.app
  for (const id of ['x', '1', '1,2,3', '9,0', '-1,0', '']) {
    const answer = await app.inject({ url: URL_PATH, headers: { 'last-event-id': id } })
    t.equal(answer.statusCode, 400, id)
    t.match(answer.json(), { code: 'PARAMETER_INVALID', message: /Last-Event-ID/ })
  }
  t.equal((await app.inject(`${URL_PATH}?from=middle`)).statusCode, 400)
  const feeds = await Promise.all(Array.from({ length: 100 }, () => follow(t, api.url)))
  const refused = await app.inject(URL_PATH)
  t.equal(refused.statusCode, 503)
  t.match(refused.headers['retry-after'], /^\d+$/)
  const [first] = feeds
  first?.response.destroy()
  await t.resolves(
    retryUntil(async () => feedsAgain(t, api.url)),
    'a client that leaves makes room',
  )
})

async function feedsAgain(t: Test, url: string): Promise<boolean> {
  const request = httpRequest(url, { agent: false })
  t.teardown(() => request.destroy())
  request.on('error', () => undefined)
  request.end()
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  response.on('error', () => undefined)
  response.resume()
  return response.statusCode === 200
}

async function retryUntil(attempt: () => Promise<boolean>): Promise<void> {
  while (!(await attempt())) await new Promise((resolve) => setImmediate(resolve))
}

t.test('without notices there is no feed', async (t) => {
  const bare = await testApi(t)
  t.equal((await bare.server.app.inject(URL_PATH)).statusCode, 404)
  const withoutTopic = await testApi(t, { processors })
  t.equal((await withoutTopic.server.app.inject(URL_PATH)).statusCode, 404)
})

t.test('feeds end when the service stops', async (t) => {
  const api = await feedApi(t)
  const feed = await follow(t, api.url)
  await feed.until(/connected/)
  const ended = once(feed.response, 'end')
  await api.server.stop()
  await ended
  t.pass('ended')
})
