import t from 'tap'
import { testApi } from '../test-api.js'
import { testSystem } from '../test-system.js'

t.test('without an audit token only callers on this machine are answered', async (t) => {
  const { server } = await testApi(t)
  const ask = (remoteAddress: string) => server.app.inject({ url: '/audit', remoteAddress })
  for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) t.equal((await ask(address)).statusCode, 200, address)
  for (const address of ['10.0.0.7', '::ffff:10.0.0.7', '2001:db8::1']) {
    const refused = await ask(address)
    t.equal(refused.statusCode, 401, address)
    t.match(refused.json(), { code: 'UNAUTHORIZED' })
  }
})

t.test('with an audit token every path of /audit asks for it, whoever calls', async (t) => {
  const { server } = await testApi(t, { auditToken: 'secret' })
  const paths = server.routes.filter(({ url, method }) => url.startsWith('/audit') && method === 'GET')
  t.ok(paths.length >= 3)
  for (const { url } of paths) {
    for (const authorization of [undefined, 'Bearer wrong', 'Basic secret', 'Bearer']) {
      const answer = await server.app.inject({ url, headers: authorization === undefined ? {} : { authorization } })
      t.equal(answer.statusCode, 401, `${url} ${authorization}`)
      t.equal(answer.headers['www-authenticate'], 'Bearer')
    }
  }
  const headers = { authorization: 'Bearer secret' }
  t.equal((await server.app.inject({ url: '/audit', headers, remoteAddress: '10.0.0.7' })).statusCode, 200)
})

t.test('a proxy on this machine is no caller on it, and nobody becomes one by a header', async (t) => {
  const { server } = await testApi(t)
  const proxied = { forwarded: 'for=127.0.0.1', via: '1.1 proxy', 'x-forwarded-for': '127.0.0.1', 'x-real-ip': '::1' }
  for (const [name, value] of Object.entries(proxied)) {
    for (const remoteAddress of ['127.0.0.1', '10.0.0.7']) {
      const answer = await server.app.inject({ url: '/audit', remoteAddress, headers: { [name]: value } })
      t.equal(answer.statusCode, 401, `${name} from ${remoteAddress}`)
    }
  }
})

t.test('journals, mirrors, changelogs and digests are shown to auditors only, other topics to all', async (t) => {
  const audited = ['test-a-journal', 'mirror.primary.other-a-journal', 'test-a-changelog', 'test-a-digests']
  const name = {
    partitions: 1,
    cleanup: 'delete',
    retentionMs: -1,
    retentionBytes: -1,
    timestampType: 'CreateTime',
  } as const
  for (const auditToken of ['', 'secret']) {
    const { server, streams } = await testApi(t, { auditToken })
    await streams.log.createTopics([...audited, 'events'].map((topic) => ({ ...name, name: topic })))
    const ask = async (topic: string, headers: Record<string, string>, method: 'GET' | 'HEAD' = 'GET') => {
      const url = `/ops/topics/${topic}/records`
      return (await server.app.inject({ method, url, headers, remoteAddress: '10.0.0.7' })).statusCode
    }
    t.equal(await ask('events', {}), 200)
    for (const topic of [...audited, encodeURIComponent(audited[0]!).replace('-', '%2D')]) {
      t.equal(await ask(topic, {}), 401, topic)
      t.equal(await ask(topic, {}, 'HEAD'), 401, topic)
      t.equal(await ask(topic, { authorization: 'Bearer wrong' }), 401, topic)
      const authorization = 'Bearer secret'
      t.equal(await ask(topic, { authorization }), auditToken === '' ? 401 : 200, `${topic} with ${auditToken}`)
    }
  }
})

t.test('topics and offsets are told for reading journals from afar', async (t) => {
  const { server, streams } = await testApi(t)
  await streams.log.createTopics([
    {
      name: 'some',
      partitions: 2,
      cleanup: 'delete',
      retentionMs: -1,
      retentionBytes: -1,
      timestampType: 'CreateTime',
    },
  ])
  const value = Buffer.from('x')
  await streams.log.append(
    'some',
    1,
    [1000, 2000].map((timestamp) => ({ key: null, value, timestamp })),
  )
  const ask = async (url: string): Promise<unknown> => (await server.app.inject({ url })).json()
  t.match(await ask('/audit/topics/some'), { topic: { name: 'some', partitions: 2 } })
  t.same(await ask('/audit/topics/none'), { topic: null })
  t.same(await ask('/audit/topics/some/1'), { start: 0, end: 2 })
  t.same(await ask('/audit/topics/some/1?time=1500'), { offset: 1 })
  t.match(await ask('/audit/topics/some/2'), { code: 'TOPIC_NOT_FOUND' })
})

t.test('state and explain of a key are asked over HTTP as on the command line', async (t) => {
  const system = await testSystem(t)
  const created = [{ cmHandle: 'dev-1' }]
  const payload = { dmiPlugin: 'http://dmi-1:8080', createdCmHandles: created }
  await system.request({ method: 'POST', url: '/ncmpInventory/v1/ch', payload })
  const read = await system.request('/ncmp/v1/ch/dev-1')
  const position = String(read.headers['x-pulsefold-position'])
  const at = system.driver.clock.now()
  await system.driver.advance(2000)
  const level = 'NONE'
  const headers = {
    'content-type': 'application/json',
    'ce-specversion': '1.0',
    'ce-id': 'dev-1',
    'ce-source': 'dmi',
    'ce-type': 'org.onap.cm.events.trustlevel-notification',
  }
  await system.request({
    method: 'POST',
    url: '/events',
    headers,
    payload: JSON.stringify({ data: { trustLevel: level } }),
  })
  const ask = async (url: string): Promise<unknown> => (await system.request(url)).json()
  t.match(await ask('/audit/state?key=dev-1'), { weAnswered: [{ result: { state: { trustLevel: 'NONE' } } }] })
  const then = { result: { state: { trustLevel: 'COMPLETE' } } }
  t.match(await ask(`/audit/state?key=dev-1&position=${position}`), { wasTrue: null, weAnswered: [then] })
  t.match(await ask(`/audit/state?key=dev-1&at=${at}`), { wasTrue: [then] })
  t.match(await ask('/audit/explain?key=dev-1&limit=1'), [
    {
      state: { trustLevel: 'NONE' },
      hasEarlier: true,
      steps: [{ what: 'HeartbeatReported', producer: 'dmi', before: { trustLevel: 'COMPLETE' } }],
    },
  ])
  for (const wrong of ['', '?key=dev-1&at=yesterday', '?key=dev-1&position=x', '?key=dev-1&domain=none']) {
    t.match(await ask(`/audit/state${wrong}`), { code: 'PARAMETER_INVALID' }, wrong)
  }
})
