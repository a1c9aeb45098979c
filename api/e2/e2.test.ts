import type { LightMyRequestResponse } from 'fastify'
import t from 'tap'
import { keepAlive } from '../../processors/keep-alive/index.js'
import { StoreError } from '../../state-stores/errors.js'
import { testSystem } from '../test-system.js'
import type { TestSystem } from '../test-system.js'

const E2T = 'e2t.att.com:38000'
const RAN = 'gnb_208_092_303030'
const ENB = 'enB_shortmacro_208__555540'
const json = { 'content-type': 'application/json' }

/** What E2 terminations and clients do, over HTTP. */
class Client {
  readonly system: TestSystem
  #messages = 0

  constructor(system: TestSystem) {
    this.system = system
  }

  get(path: string): Promise<LightMyRequestResponse> {
    return this.system.request(path)
  }

  send(
    method: 'POST' | 'PUT' | 'DELETE',
    url: string,
    body?: unknown,
    headers = json,
  ): Promise<LightMyRequestResponse> {
    const payload = typeof body === 'string' ? body : JSON.stringify(body)
    return this.system.request({ method, url, headers, ...(body !== undefined && { payload }) })
  }

  /** An event in binary mode. */
  async event(name: string, data: unknown, attributes: Readonly<Record<string, string>> = {}): Promise<void> {
    const headers: Record<string, string> = {
      'ce-specversion': '1.0',
      'ce-id': `message-${++this.#messages}`,
      'ce-source': E2T,
      'ce-type': `org.oran.e2.${name}`,
      'content-type': 'application/json',
    }
    for (const [attribute, value] of Object.entries(attributes)) headers[`ce-${attribute}`] = value
    const answer = await this.system.request({ method: 'POST', url: '/events', headers, payload: JSON.stringify(data) })
    if (answer.statusCode !== 202) throw new Error(answer.body)
  }

  init(address = E2T, attributes: Readonly<Record<string, string>> = {}): Promise<void> {
    return this.event('E2_TERM_INIT', { address, fqdn: address, pod_name: 'e2term-0' }, attributes)
  }

  setUp(ranName = RAN, address = E2T): Promise<void> {
    const ranFunctions = [1, 2, 3].map((ranFunctionId) => ({ ranFunctionId, ranFunctionRevision: 1 }))
    const globalNbId = { plmnId: '02F829', nbId: '001100000011000000110000' }
    return this.event('E2_SETUP_REQ', { e2tAddress: address, ranName, globalNbId, nodeType: 'GNB', ranFunctions })
  }
}

const started = async (t: Tap, settings: Parameters<typeof testSystem>[1] = {}): Promise<Client> =>
  new Client(await testSystem(t, settings))
type Tap = Parameters<typeof testSystem>[0]

const enbBody = {
  ranName: ENB,
  globalNbId: { plmnId: 'def', nbId: 'abc' },
  ip: '10.0.0.7',
  port: 36422,
  enb: {
    enbType: 'MACRO_ENB',
    servedCells: [
      { cellId: 'c1', tac: '1', eutraMode: 'FDD', pci: 0, broadcastPlmns: ['p'], choiceEutraMode: { fdd: {} } },
    ],
  },
}

t.test('health, empty lists, unknown RANs, and no instance to select', async (t) => {
  const client = await started(t)
  t.match(await client.get('/v1/health'), { statusCode: 200, body: '' })
  t.match(await client.get('/v1/e2t/list'), { statusCode: 200, body: '[]' })
  t.match(await client.get('/v1/nodeb/states'), { statusCode: 200, body: '[]' })
  for (const path of ['/v1/nodeb/states/ran', '/v1/nodeb/ran', '/v1/nodeb/ids', '/ric/BEEF0/v1/nodeb/ran']) {
    const answer = await client.get(path)
    t.match(answer, { statusCode: 404, body: '{"errorCode":404,"errorMessage":"Resource not found"}' }, path)
    t.equal(answer.headers['content-type'], 'application/json')
  }
  t.match(await client.get('/ric/BEEF0/v1/e2t/list'), { statusCode: 200, body: '[]' })
  const none = await client.get('/v1/e2t/selection')
  t.match([none.statusCode, none.json(), none.headers['retry-after']], [503, { errorCode: 510 }, '1'])
  t.equal((await client.get('/v1/nothing')).statusCode, 404)
  t.equal((await client.send('POST', '/v1/nodeb/shutdown')).statusCode, 405)
})

t.test('health is 500 without body where the store cannot be read (robot: Health unhappy)', async (t) => {
  const client = await started(t)
  const { application } = client.system.driver
  const query = application.query.bind(application)
  const next = (): Promise<never> => Promise.reject(new StoreError('STORE_UNAVAILABLE', 'no answer'))
  const rows = (): AsyncIterable<never> => ({ [Symbol.asyncIterator]: () => ({ next }) })
  application.query = (domain, asked, ...more) =>
    query(domain, { name: asked.name, run: (reader, args) => asked.run({ ...reader, rows }, args) }, ...more)
  t.match(await client.get('/v1/health'), { statusCode: 500, body: '' })
})

t.test('all is 500 "RNIB error" where the store has failed (robot: Unhappy)', async (t) => {
  const client = await started(t)
  await client.init()
  await client.setUp()
  for (const task of client.system.driver.application.tasks) {
    if (task.processor.name === 'keep-alive') task.fail(new StoreError('STORE_UNAVAILABLE', 'no answer'))
  }
  const gets = ['e2t/list', 'e2t/selection', 'nodeb/states', `nodeb/states/${RAN}`, `nodeb/${RAN}`, 'symptomdata']
  const commands = [
    ['PUT', 'nodeb/shutdown', undefined],
    ['PUT', 'nodeb/parameters', { enableRic: false }],
    ['PUT', 'nodeb/health', {}],
    ['POST', 'nodeb/enb', enbBody],
    ['PUT', `nodeb/enb/${ENB}`, { enb: enbBody.enb }],
    ['DELETE', `nodeb/enb/${ENB}`, undefined],
  ] as const
  const body = '{"errorCode":500,"errorMessage":"RNIB error"}'
  for (const path of gets) t.match(await client.get(`/v1/${path}`), { statusCode: 500, body }, path)
  for (const [method, path, sent] of commands) {
    t.match(await client.send(method, `/v1/${path}`, sent), { statusCode: 500, body }, `${method} ${path}`)
  }
  t.match(await client.get('/v1/health'), { statusCode: 500, body: '' })
})

t.test('a command whose fold fails is 500 "RNIB error", and one without answer 500/501 or 500/502', async (t) => {
  const client = await started(t)
  const { application } = client.system.driver
  let reason: 'failed' | 'outcomeOpen' = 'failed'
  application.command = () => Promise.resolve({ ok: false, reason, message: 'of the test', retryAfterMs: 0 })
  const codes = async (): Promise<unknown[]> => {
    const parameters = await client.send('PUT', '/v1/nodeb/parameters', { enableRic: false })
    const shutdown = await client.send('PUT', '/v1/nodeb/shutdown')
    return [parameters, shutdown].map((answer) => [answer.statusCode, answer.json<{ errorCode: number }>().errorCode])
  }
  t.strictSame(await codes(), [
    [500, 500],
    [500, 500],
  ])
  reason = 'outcomeOpen'
  t.strictSame(await codes(), [
    [500, 501],
    [500, 502],
  ])
})

t.test('E2T instances are listed in the exact text that clients know (robot: Get_E2T_Instances)', async (t) => {
  const client = await started(t)
  await client.init()
  for (const ranName of ['test1', 'test2', 'test3']) await client.setUp(ranName)
  const list = await client.get('/v1/e2t/list')
  t.equal(list.body, '[{"e2tAddress":"e2t.att.com:38000","ranNames":["test1","test2","test3"]}]')
  t.equal((await client.get('/v1/e2t/selection')).body, `{"e2tAddress":"${E2T}","ranCount":3}`)
  await client.init('other:38000')
  t.equal((await client.get('/v1/e2t/selection')).body, '{"e2tAddress":"other:38000","ranCount":0}')
})

t.test('a connected gNB, with its functions and without zero values (robot: KeepAlive, before)', async (t) => {
  const client = await started(t)
  await client.init()
  await client.setUp()
  const nodeb = (await client.get(`/v1/nodeb/${RAN}`)).json<Record<string, unknown>>()
  t.match(nodeb, {
    ranName: RAN,
    connectionStatus: 'CONNECTED',
    nodeType: 'GNB',
    globalNbId: { plmnId: '02F829', nbId: '001100000011000000110000' },
    associatedE2tInstanceAddress: E2T,
    setupFromNetwork: true,
    statusUpdateTimeStamp: /^\d{13}000000$/,
  })
  t.strictSame(nodeb['gnb'], {
    ranFunctions: [1, 2, 3].map((ranFunctionId) => ({ ranFunctionId, ranFunctionRevision: 1 })),
  })
  t.notOk('ip' in nodeb || 'port' in nodeb || 'enb' in nodeb)
  t.equal(
    (await client.get(`/v1/nodeb/states/${RAN}`)).body,
    `{"inventoryName":"${RAN}","globalNbId":{"plmnId":"02F829","nbId":"001100000011000000110000"},"connectionStatus":"CONNECTED"}`,
  )
})

t.test('an instance that falls silent is gone, and its RAN without address (robot: KeepAlive, after)', async (t) => {
  const client = await started(t)
  await client.init()
  await client.setUp()
  await client.system.driver.advance(2600, 50)
  t.equal((await client.get('/v1/e2t/list')).body, '[]')
  const nodeb = (await client.get(`/v1/nodeb/${RAN}`)).json<Record<string, unknown>>()
  t.equal(nodeb['connectionStatus'], 'DISCONNECTED')
  t.notOk('associatedE2tInstanceAddress' in nodeb)
  t.ok('gnb' in nodeb, 'its functions are kept')
})

t.test('an eNB is added, read, updated and deleted', async (t) => {
  const client = await started(t)
  const added = await client.send('POST', '/v1/nodeb/enb', enbBody)
  t.equal(added.statusCode, 201)
  t.match(added.json(), {
    ranName: ENB,
    ip: '10.0.0.7',
    port: 36422,
    connectionStatus: 'DISCONNECTED',
    nodeType: 'ENB',
  })
  t.notOk('pci' in (added.json<{ enb: { servedCells: object[] } }>().enb.servedCells[0] ?? {}))
  t.match((await client.get(`/v1/nodeb/states/${ENB}`)).json(), {
    inventoryName: ENB,
    connectionStatus: 'DISCONNECTED',
    globalNbId: { plmnId: 'def', nbId: 'abc' },
  })
  const again = await client.send('POST', '/v1/nodeb/enb', enbBody)
  t.match([again.statusCode, again.json()], [400, { errorCode: 406, errorMessage: 'Nodeb already exists' }])
  const updated = await client.send('PUT', `/v1/nodeb/enb/${ENB}`, { enb: { ...enbBody.enb, enbType: 'HOME_ENB' } })
  t.match([updated.statusCode, updated.json()], [200, { enb: { enbType: 'HOME_ENB' } }])
  t.equal((await client.send('DELETE', `/v1/nodeb/enb/${ENB}`)).statusCode, 204)
  t.equal((await client.send('DELETE', `/v1/nodeb/enb/${ENB}`)).statusCode, 404)
  t.equal((await client.send('PUT', `/v1/nodeb/enb/${ENB}`, { enb: enbBody.enb })).statusCode, 404)
})

t.test('a gNB gets served cells; 64-bit values keep their digits', async (t) => {
  const client = await started(t)
  await client.init()
  await client.setUp()
  const cell = {
    servedNrCellInformation: { cellId: 'c', choiceNrMode: { tdd: {} }, nrMode: 'TDD', nrPci: 7, servedPlmns: ['p'] },
  }
  const text = `{"servedNrCells":[${JSON.stringify(cell).replace('"nrPci":7', '"nrPci":7,"big":9007199254740993')}]}`
  const updated = await client.send('PUT', `/v1/nodeb/gnb/${RAN}`, text)
  t.equal(updated.statusCode, 200, updated.body)
  t.match(updated.body, '"big":"9007199254740993"')
  t.match(updated.json(), { gnb: { ranFunctions: [{}, {}, {}], servedNrCells: [{}] } })
  t.equal((await client.send('PUT', '/v1/nodeb/gnb/nobody', { servedNrCells: [cell] })).statusCode, 404)
  const refused = await client.send('PUT', `/v1/nodeb/gnb/${RAN}`, { servedNrCells: [] })
  t.match([refused.statusCode, refused.json()], [400, { errorCode: 402, errorMessage: 'Validation error' }])
})

t.test('names that look like the first word of an enumeration are shown', async (t) => {
  const client = await started(t)
  for (const ranName of ['UNKNOWN_1', 'NA']) {
    const added = await client.send('POST', '/v1/nodeb/enb', {
      ...enbBody,
      ranName,
      globalNbId: { plmnId: 'p', nbId: 'NA' },
    })
    t.match(added.json(), { ranName, globalNbId: { plmnId: 'p', nbId: 'NA' } })
    t.match((await client.get(`/v1/nodeb/states/${ranName}`)).json(), { inventoryName: ranName })
  }
})

t.test('ids in a configuration may begin with UNKNOWN; the first words of its enumerations are left out', async (t) => {
  const client = await started(t)
  const cell = { ...enbBody.enb.servedCells[0], cellId: 'UNKNOWN1', tac: 'UNKNOWN', csgId: 'NA' }
  const unset = { bandwidthReducedSi: 'UNKNOWN_BANDWIDTH_REDUCED_SI', mbsfnSubframeInfos: [{ x: 1 }] }
  const enb = { ...enbBody.enb, servedCells: [{ ...cell, ...unset }], guGroupIds: ['UNKNOWN2'] }
  const added = await client.send('POST', '/v1/nodeb/enb', { ...enbBody, enb })
  t.equal(added.statusCode, 201, added.body)
  const shown = added.json<{ enb: { servedCells: Record<string, unknown>[]; guGroupIds: string[] } }>().enb
  t.match(shown, { servedCells: [{ cellId: 'UNKNOWN1', tac: 'UNKNOWN', csgId: 'NA' }], guGroupIds: ['UNKNOWN2'] })
  t.notOk('bandwidthReducedSi' in (shown.servedCells[0] ?? {}))
})

t.test('what is refused, and with which number', async (t) => {
  const client = await started(t)
  const withoutTac = { ...enbBody.enb, servedCells: [{ ...enbBody.enb.servedCells[0], tac: '' }] }
  const cases: readonly (readonly [
    method: 'POST' | 'PUT' | 'DELETE',
    path: string,
    body: unknown,
    status: number,
    errorCode: number,
    headers?: Readonly<Record<'content-type', string>>,
  ])[] = [
    ['POST', '/v1/nodeb/enb', enbBody, 415, 415, { 'content-type': 'application/json; charset=utf-8' }],
    ['PUT', `/v1/nodeb/enb/${ENB}`, enbBody, 415, 415, { 'content-type': 'text/plain' }],
    ['DELETE', `/v1/nodeb/enb/${ENB}`, undefined, 415, 415, { 'content-type': 'text/plain' }],
    ['PUT', `/v1/nodeb/gnb/${RAN}`, {}, 415, 415, { 'content-type': 'text/plain' }],
    ['PUT', '/v1/nodeb/health', {}, 415, 415, { 'content-type': 'text/plain' }],
    ['POST', '/v1/nodeb/enb', '{', 400, 401],
    ['POST', '/v1/nodeb/enb', '[]', 400, 401],
    ['POST', '/v1/nodeb/enb', { ...enbBody, ranName: 7 }, 400, 401],
    ['POST', '/v1/nodeb/enb', { ...enbBody, port: '7' }, 400, 401],
    ['POST', '/v1/nodeb/enb', '{"__proto__":{"x":1}}', 400, 401],
    ['POST', '/v1/nodeb/enb', {}, 400, 402],
    ['POST', '/v1/nodeb/enb', { ...enbBody, ranName: '' }, 400, 402],
    ['POST', '/v1/nodeb/enb', { ...enbBody, globalNbId: { plmnId: 'x' } }, 400, 402],
    ['POST', '/v1/nodeb/enb', { ...enbBody, enb: { enbType: 'UNKNOWN_ENB_TYPE', servedCells: [{}] } }, 400, 402],
    ['POST', '/v1/nodeb/enb', { ...enbBody, enb: { ...enbBody.enb, servedCells: [] } }, 400, 402],
    ['POST', '/v1/nodeb/enb', { ...enbBody, enb: withoutTac }, 400, 402],
    ['PUT', `/v1/nodeb/gnb/${RAN}`, { servedNrCells: [{}] }, 400, 402],
    ['PUT', '/v1/nodeb/parameters', { enableRic: 'no' }, 400, 401],
    ['PUT', '/v1/nodeb/parameters', { enableRic: false, other: 1 }, 400, 401],
    ['PUT', '/v1/nodeb/parameters', {}, 400, 401],
    ['PUT', '/v1/nodeb/health', '{"ranList":[1]}', 400, 401],
    ['PUT', '/v1/nodeb/health', { ranList: null }, 404, 406],
    ['PUT', '/v1/nodeb/health', `{"ranList":["${'x'.repeat(2000)}"]}`, 400, 401],
    ['PUT', '/v1/nodeb/health', {}, 404, 406],
    ['PUT', '/v1/nodeb/health', { ranList: ['nobody'] }, 404, 406],
  ]
  for (const [method, path, body, status, errorCode, headers = json] of cases) {
    const answer = await client.send(method, path, body, headers)
    t.match(
      [answer.statusCode, answer.json()],
      [status, { errorCode, errorMessage: String }],
      `${method} ${path} ${JSON.stringify(body)}`,
    )
  }
  t.match((await client.send('PUT', '/v1/nodeb/health', {})).json(), { errorMessage: 'No RAN in Connected State' })
})

t.test('parameters switch the RIC off and on, whatever the content type', async (t) => {
  const client = await started(t)
  await client.init()
  const off = await client.send('PUT', '/v1/nodeb/parameters', { enableRic: false }, { 'content-type': 'text/plain' })
  t.match([off.statusCode, off.body], [200, '{"enableRic":false}'])
  await client.setUp()
  t.equal((await client.get('/v1/nodeb/states')).body, '[]')
  const commands = await client.system.driver.read('e2t-commands')
  t.match(String(commands.at(-1)?.value), '"cause":"misc/om-intervention"')
})

t.test('health is asked of connected RANs, and noted in nanoseconds', async (t) => {
  const client = await started(t)
  await client.init()
  await client.setUp()
  const asked = await client.send('PUT', '/v1/nodeb/health', { ranList: [RAN, 'nobody'] })
  t.match([asked.statusCode, asked.body], [202, '{"message":"Request Accepted"}'])
  await client.event('SERVICE_UPDATE', {}, { meid: RAN })
  t.match((await client.get(`/v1/nodeb/states/${RAN}`)).json(), {
    healthCheckTimestampSent: /^\d{13}000000$/,
    healthCheckTimestampReceived: /^\d{13}000000$/,
  })
  t.equal((await client.send('PUT', '/v1/nodeb/health', {})).statusCode, 202, 'all')
})

t.test('the Red Button answers when all is shut down; a second one at once (robot: RedButton)', async (t) => {
  const client = await started(t)
  await client.init()
  await client.setUp()
  const { driver } = client.system
  const before = driver.clock.monotonic()
  t.match(await client.send('PUT', '/v1/nodeb/shutdown'), { statusCode: 204, body: '' })
  const took = driver.clock.monotonic() - before
  t.ok(took >= 5000 && took < 5500, `${took} ms`)
  const nodeb = (await client.get(`/v1/nodeb/${RAN}`)).json<Record<string, unknown>>()
  t.equal(nodeb['connectionStatus'], 'SHUT_DOWN')
  t.notOk('associatedE2tInstanceAddress' in nodeb)
  const events = (await driver.read('ran-connection-events')).map(({ value }) => String(value))
  t.strictSame(events, [`${RAN}_CONNECTED`, `${RAN}_DISCONNECTED`])
  const second = driver.clock.monotonic()
  t.equal((await client.send('PUT', '/v1/nodeb/shutdown')).statusCode, 204)
  t.ok(driver.clock.monotonic() - second < 1000)
})

t.test('symptom data is an attachment with all that is known', async (t) => {
  const client = await started(t)
  await client.init()
  await client.setUp()
  await client.send('POST', '/v1/nodeb/enb', enbBody)
  const answer = await client.get('/v1/symptomdata')
  t.match(answer.headers['content-disposition'], /^attachment/)
  t.match(answer.json(), {
    e2TList: [{ e2tAddress: E2T, ranNames: [RAN] }],
    nodeBList: [{ inventoryName: ENB }, { inventoryName: RAN }],
    nodeBInfo: [{ ranName: ENB }, { ranName: RAN }],
  })
})

t.test('several RICs are served side by side', async (t) => {
  const client = await started(t)
  await client.init('a:38000', { ric: 'BEEF0' })
  t.equal((await client.get('/v1/e2t/list')).body, '[]')
  t.equal((await client.get('/ric/BEEF0/v1/e2t/list')).body, '[{"e2tAddress":"a:38000","ranNames":[]}]')
  await client.send('POST', '/ric/BEEF0/v1/nodeb/enb', enbBody)
  t.equal((await client.get(`/v1/nodeb/${ENB}`)).statusCode, 404)
  t.equal((await client.get(`/ric/BEEF0/v1/nodeb/${ENB}`)).statusCode, 200)
})

t.test('what is owed to the Routing Manager is listed', async (t) => {
  const client = await started(t, { routingManagerUrl: 'http://127.0.0.1:1/' })
  await client.init()
  t.match((await client.get('/ops/routing-manager')).json(), [
    { ric: 'AACCE', e2tAddress: E2T, purpose: 'register', ranNames: [], since: /^2026-/ },
  ])
})

t.test('messages of all kinds are routed by type, or by number', async (t) => {
  const [input] = keepAlive({
    settings: {} as never,
    messagesTopic: 'm',
    ricId: 'AACCE',
    effectors: [],
  }).inputs
  t.strictSame(input?.types, ['org.oran.e2.*'])
  const client = await started(t)
  await client.event('ANYTHING', { address: E2T }, { mtype: '1100' })
  t.match((await client.get('/v1/e2t/list')).body, E2T)
})
