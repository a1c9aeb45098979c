import t from 'tap'
import type { LightMyRequestResponse } from 'fastify'
import type { Test } from 'tap'
import type { Settings } from '../../common/settings.js'
import { testSystem } from '../test-system.js'

const BASE = '/external-platforms'

async function started(t: Test, settings: Partial<Settings> = {}) {
  const system = await testSystem(t, settings)
  const ask = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path = '', payload?: object | string, headers = {}) =>
    system.request({
      method,
      url: BASE + path,
      ...(payload !== undefined && { payload }),
      headers: { ...(payload !== undefined && { 'content-type': 'application/json' }), ...headers },
    })
  let calls = 0
  /** An outcome, as a SIS node reports it. */
  const outcome = async (address: string, result: string, more: object = {}, platform = 'vm'): Promise<void> => {
    const data = { platform, address, result, callId: `c-${++calls}`, ...more }
    const taken = await system.request({
      method: 'POST',
      url: '/events',
      headers: {
        'content-type': 'application/json',
        'ce-specversion': '1.0',
        'ce-id': `e-${calls}`,
        'ce-source': 'sis-1',
        'ce-type': 'com.opencloud.sis.call-outcome',
      },
      payload: data,
    })
    t.equal(taken.statusCode, 202, taken.body)
  }
  return { ...system, ask, outcome }
}

const body = (response: LightMyRequestResponse): Record<string, unknown> => response.json()

t.test('platforms are created, shown, changed and removed', async (t) => {
  const { ask, driver } = await started(t)
  const since = new Date(driver.clock.now()).toISOString()
  const created = await ask('POST', '', {
    name: 'vm',
    selectionMode: 'round_robin',
    addresses: ['a1', { address: 'a2', state: 'inactive' }],
  })
  t.equal(created.statusCode, 201)
  t.equal(created.headers['location'], `${BASE}/vm`)
  t.match(created.headers['x-pulsefold-position'], /^test-address-health-journal\/\d+\/\d+$/)
  const address = { since, window: { calls: 0, failed: 0 }, retry: { successes: 0, nextAt: null } }
  const shown = {
    name: 'vm',
    selectionMode: 'ROUND_ROBIN',
    detectInterval: 5000,
    detectThreshold: 0.5,
    retryInterval: 30000,
    retryAttempts: 3,
    minCalls: 1,
    panicMode: false,
    addresses: [
      { position: 0, address: 'a1', state: 'active', ...address },
      { position: 1, address: 'a2', state: 'inactive', ...address },
    ],
  }
  t.match(body(created), { ...shown, addresses: [{ since: String }, {}] })
  const got = await ask('GET', '/vm')
  t.equal(got.statusCode, 200)
  t.strictSame(body(got), body(created))
  t.equal(got.headers['x-pulsefold-role'], 'active')

  t.match(await ask('POST', '', { name: 'vm', selectionMode: 'LOAD_SHARE' }), { statusCode: 409 })
  t.match(body(await ask('PUT', '/vm', { detectThreshold: 0.25, panicMode: true })), {
    selectionMode: 'ROUND_ROBIN',
    detectThreshold: 0.25,
    panicMode: true,
    retryAttempts: 3,
  })
  const gone = await ask('DELETE', '/vm')
  t.equal(gone.statusCode, 204)
  t.equal(gone.body, '')
  for (const [method, path] of [
    ['GET', '/vm'],
    ['PUT', '/vm'],
    ['DELETE', '/vm'],
    ['POST', '/vm/addresses'],
    ['POST', '/vm/addresses/0/repair'],
    ['POST', '/vm/selections'],
  ] as const) {
    const missing = await ask(method, path, { address: 'x' })
    t.match(body(missing), { status: 404, code: 'PLATFORM_NOT_FOUND', message: 'there is no platform "vm"' }, path)
  }
})

t.test('a platform that no path could name is refused', async (t) => {
  const { ask } = await started(t)
  for (const name of ['.', '..', 'a/b', ' ', 'x'.repeat(256)]) {
    const refused = await ask('POST', '', { name, selectionMode: 'LOAD_SHARE' })
    t.match([refused.statusCode, body(refused)], [400, { errors: [{ field: 'name' }] }], name)
  }
  t.equal((await ask('POST', '', { name: '...', selectionMode: 'LOAD_SHARE' })).statusCode, 201)
})

t.test('HS-12 row 32 wrong values are refused when they are given, each named', async (t) => {
  const { ask } = await started(t)
  const wrong = {
    name: 'a/b',
    selectionMode: 'PRIORITY',
    detectInterval: -1,
    detectThreshold: 1.5,
    retryInterval: 2.5,
    retryAttempts: 0,
    minCalls: '3',
    panicMode: 'yes',
    addresses: ['a', 'a', { address: '', state: 'failed' }],
  }
  const refused = await ask('POST', '', wrong)
  t.equal(refused.statusCode, 400)
  const { errors, code } = body(refused) as { code: string; errors: { field: string; code: string }[] }
  t.equal(code, 'BODY_INVALID')
  t.strictSame(errors.map(({ field }) => field).sort(), [
    'addresses[1].address',
    'addresses[2].address',
    'addresses[2].state',
    'detectInterval',
    'detectThreshold',
    'minCalls',
    'name',
    'panicMode',
    'retryAttempts',
    'retryInterval',
    'selectionMode',
  ])
  t.equal((await ask('GET', '/a%2Fb')).statusCode, 404, 'nothing was made')
  t.match(body(await ask('POST', '', {})), { errors: [{ field: 'name' }, { field: 'selectionMode' }] })
  await ask('POST', '', { name: 'vm', selectionMode: 'LOAD_SHARE' })
  for (const [name, values] of Object.entries({
    detectInterval: [-1, 0.5, '5000', null, 1e300],
    detectThreshold: [-0.1, 1.01, 'NaN', null],
    retryInterval: [-1, '0', 1.5],
    retryAttempts: [0, -1, 1.5, 'three'],
    minCalls: [0],
  })) {
    for (const value of values) {
      const update = await ask('PUT', '/vm', { [name]: value })
      t.match(body(update), { status: 400, errors: [{ field: name, code: 'INVALID_VALUE' }] }, `${name} ${value}`)
    }
  }
  t.equal((await ask('PUT', '/vm', '[]')).statusCode, 400)
  t.equal((await ask('POST', '', '{"name":1e999')).statusCode, 400)
})

t.test('all that is wrong with an outcome is named', async (t) => {
  const system = await started(t)
  const headers = { 'content-type': 'application/json', 'ce-specversion': '1.0', 'ce-id': 'e-1', 'ce-source': 'sis-1' }
  const type = { 'ce-type': 'com.opencloud.sis.call-outcome' }
  const send = async (url: string, more: object) => {
    const answer = await system.request({
      method: 'POST',
      url,
      headers: { ...headers, ...more },
      payload: '{"result":"busy"}',
    })
    return answer.json<{ errors: { field: string }[] }>().errors.map(({ field }) => field)
  }
  t.strictSame(await send('/events', type), ['platform', 'address', 'callId', 'result'])
  t.strictSame(await send('/events?topic=sis-call-outcomes', { 'ce-id': '' }), ['id', 'type'])
})

t.test('addresses are added, moved between states and removed by position', async (t) => {
  const { ask } = await started(t)
  await ask('POST', '', { name: 'vm', selectionMode: 'ACTIVE_STANDBY' })
  const added = await ask('POST', '/vm/addresses', { address: 'a1' })
  t.equal(added.statusCode, 201)
  t.match(body(added), { addresses: [{ position: 0, address: 'a1', state: 'active' }] })
  t.match(body(await ask('POST', '/vm/addresses', { address: 'a0', position: 0, state: 'inactive' })), {
    addresses: [{ address: 'a0', state: 'inactive' }, { address: 'a1' }],
  })
  t.match(body(await ask('POST', '/vm/addresses', { address: 'a1' })), { status: 409, code: 'ADDRESS_EXISTS' })
  t.match(body(await ask('POST', '/vm/addresses', { address: 'a9', position: 5 })), {
    status: 400,
    errors: [{ field: 'position' }],
  })
  t.match(body(await ask('POST', '/vm/addresses', { position: -1, state: 'failed' })), {
    status: 400,
    errors: [{ field: 'address' }, { field: 'state' }, { field: 'position' }],
  })
  t.match(body(await ask('POST', '/vm/addresses/0/activate')), { addresses: [{ state: 'active' }, {}] })
  t.match(body(await ask('POST', '/vm/addresses/0/activate')), { status: 409, code: 'INVALID_STATE' })
  t.match(body(await ask('POST', '/vm/addresses/0/deactivate')), { addresses: [{ state: 'inactive' }, {}] })
  t.match(body(await ask('POST', '/vm/addresses/0/repair')), { status: 409, code: 'INVALID_STATE' })
  t.match(body(await ask('POST', '/vm/addresses/2/repair')), { status: 404, code: 'ADDRESS_NOT_FOUND' })
  t.match(body(await ask('POST', '/vm/addresses/x/repair')), { status: 400, code: 'PARAMETER_INVALID' })
  t.match(body(await ask('DELETE', '/vm/addresses/0?address=a1')), { status: 409, code: 'ADDRESS_MOVED' })
  t.match(body(await ask('DELETE', '/vm/addresses/0?address=a0')), { addresses: [{ position: 0, address: 'a1' }] })
  const addresses = Array.from({ length: 256 }, (_, n) => `x${n}`)
  t.equal((await ask('POST', '', { name: 'full', selectionMode: 'LOAD_SHARE', addresses })).statusCode, 201)
  t.match(body(await ask('POST', '/full/addresses', { address: 'more' })), { status: 409, code: 'PLATFORM_FULL' })
})

t.test('a command sent again with its key gets its first answer', async (t) => {
  const { ask } = await started(t)
  const once = { 'idempotency-key': 'make-vm', 'x-pulsefold-actor': 'ann', 'x-pulsefold-reason': 'ticket 7' }
  const first = await ask('POST', '', { name: 'vm', selectionMode: 'LOAD_SHARE' }, once)
  const again = await ask('POST', '', { name: 'vm', selectionMode: 'LOAD_SHARE' }, once)
  t.equal(again.statusCode, 201)
  t.strictSame(body(again), body(first))
})

t.test('outcomes fail an address, selections go elsewhere, retries repair it', async (t) => {
  const { ask, outcome, driver } = await started(t)
  await ask('POST', '', { name: 'vm', selectionMode: 'ACTIVE_STANDBY', retryAttempts: 1, addresses: ['a1', 'a2'] })
  const select = async (): Promise<Record<string, unknown>> =>
    body(await ask('POST', '/vm/selections', { callId: 'c-1' }))
  t.strictSame(await select(), { address: 'a1', position: 0, fallback: { address: 'a2', position: 1 } })
  await outcome('a1', 'failure', { cause: 'timeout' })
  t.match(body(await ask('GET', '/vm')), { addresses: [{ state: 'active', window: { calls: 1, failed: 1 } }, {}] })
  await driver.advance(5000)
  t.match(body(await ask('GET', '/vm')), {
    addresses: [{ state: 'failed', since: String, window: { calls: 0 }, retry: { successes: 0, nextAt: String } }, {}],
  })
  t.strictSame(await select(), { address: 'a2', position: 1 })
  await driver.advance(30_000, 500)
  const retry = await select()
  t.match(retry, { address: 'a1', position: 0, attemptId: String, fallback: { address: 'a2', position: 1 } })
  t.strictSame(await select(), { address: 'a2', position: 1 })
  await outcome('a1', 'success', { attemptId: retry['attemptId'] })
  t.match(body(await ask('GET', '/vm')), { addresses: [{ state: 'active' }, {}] })
  const alarms = (await driver.read('alarms')).map(({ key, value, headers }) => ({
    key: String(key),
    type: String(headers.find(([name]) => name === 'ce_type')?.[1]),
    ...(JSON.parse(String(value)) as object),
  }))
  const common = { key: 'vm/1', type: 'com.opencloud.sis.address-alarm', platform: 'vm', address: 'a1', position: 0 }
  const counts = { failed: 1, calls: 1, proportion: 1, journal: { partition: Number, offset: Number } }
  t.match(alarms, [
    { ...common, ...counts, state: 'raised', reason: 'THRESHOLD' },
    { ...common, ...counts, state: 'cleared', reason: 'REPAIRED' },
  ])
})

t.test('without any address to go to a selection is 503 with a reason', async (t) => {
  const { ask, outcome, driver } = await started(t)
  await ask('POST', '', { name: 'vm', selectionMode: 'ACTIVE_STANDBY', addresses: ['a1'] })
  await outcome('a1', 'failure')
  await driver.advance(5000)
  const none = await ask('POST', '/vm/selections', { callId: 'c-1' })
  t.match(body(none), { status: 503, code: 'NONE_AVAILABLE', message: 'no address of the platform is active' })
  t.ok(Number(none.headers['retry-after']) >= 29)
  await ask('POST', '', { name: 'own', selectionMode: 'INTERCEPTOR_SERVICE' })
  t.match(body(await ask('POST', '/own/selections')), { status: 503, code: 'NONE_AVAILABLE' })
  await ask('POST', '/own/addresses', { address: 'b1' })
  t.strictSame(body(await ask('POST', '/own/selections', {})), { addresses: [{ address: 'b1', position: 0 }] })
})

t.test('IV-12 the call of a retry stands in the journal with every digit', async (t) => {
  const { ask, outcome, driver } = await started(t)
  await ask('POST', '', { name: 'vm', selectionMode: 'ACTIVE_STANDBY', addresses: ['a1'] })
  await outcome('a1', 'failure')
  await driver.advance(35_000, 500)
  t.match(body(await ask('POST', '/vm/selections', '{"callId":9007199254740993}')), { attemptId: String })
  const journal = (await driver.read('test-address-health-journal')).flatMap(({ value }) =>
    value === null ? [] : [...(driver.application.codecOf('test-address-health-journal')?.decode(value) ?? [])],
  )
  const events = journal.flatMap((entry) => (entry.kind === 'event' ? [entry.event] : []))
  t.match(
    events.filter(({ type }) => type === 'RetryRequested'),
    [{ data: { callId: '9007199254740993' } }],
  )
  for (const wrong of ['true', '""', '{}', '1.5', '1e3', '1.0', 'null']) {
    t.match(
      body(await ask('POST', '/vm/selections', `{"callId":${wrong}}`)),
      { status: 400, code: 'BODY_INVALID', errors: [{ field: 'callId', message: /not a text or a whole number/ }] },
      wrong,
    )
  }
  t.equal((await ask('POST', '/vm/selections', '[]')).statusCode, 400)
  t.notMatch(await ask('POST', '/vm/selections', '{"callId":"1.5"}'), { statusCode: 400 }, 'a text may say anything')
})

t.test('a call does not wait for a retry whose answer does not come', async (t) => {
  const { ask, outcome, driver } = await started(t)
  await ask('POST', '', { name: 'vm', selectionMode: 'ACTIVE_STANDBY', addresses: ['a1', 'a2'] })
  await outcome('a1', 'failure')
  await driver.advance(35_000, 500)
  const waits: number[] = []
  driver.application.command = (_domain, _to, _event, { timeoutMs }) => {
    waits.push(timeoutMs)
    return Promise.resolve({ ok: false, reason: 'outcomeOpen', message: 'no answer', retryAfterMs: 1000 })
  }
  t.strictSame(body(await ask('POST', '/vm/selections')), { address: 'a2', position: 1 })
  t.strictSame(waits, [250])
})

t.test('row 20 in panic the only address is given, whether the call becomes a retry or not', async (t) => {
  const { ask, outcome, driver } = await started(t)
  await ask('POST', '', { name: 'vm', selectionMode: 'ACTIVE_STANDBY', panicMode: true, addresses: ['a1'] })
  await outcome('a1', 'failure')
  await driver.advance(35_000, 500)
  const retry = body(await ask('POST', '/vm/selections'))
  t.strictSame(retry, { address: 'a1', position: 0, attemptId: retry['attemptId'] ?? 'none' })
  await outcome('a1', 'failure', { attemptId: retry['attemptId'] })
  await driver.advance(30_000, 500)
  driver.application.command = () =>
    Promise.resolve({ ok: false, reason: 'outcomeOpen', message: 'no answer', retryAfterMs: 1000 })
  t.strictSame(body(await ask('POST', '/vm/selections')), { address: 'a1', position: 0 })
})

t.test('platforms are listed by name over all partitions, in pages', async (t) => {
  const { ask } = await started(t)
  const names = ['d', 'a', 'c', 'e', 'b']
  for (const name of names) await ask('POST', '', { name, selectionMode: 'LOAD_SHARE' })
  const page = async (query: string) => {
    const response = await ask('GET', query)
    const found = response.json<{ name: string }[]>().map(({ name }) => name)
    return [found, /after=(\w)/.exec(String(response.headers['link']))?.[1]]
  }
  t.strictSame(await page(''), [['a', 'b', 'c', 'd', 'e'], undefined])
  t.strictSame(await page('?limit=2'), [['a', 'b'], 'b'])
  t.strictSame(await page('?limit=2&after=b'), [['c', 'd'], 'd'])
  t.strictSame(await page('?limit=2&after=d'), [['e'], undefined])
  t.strictSame(await page('?limit=2&after=c'), [['d', 'e'], undefined], 'a full page may be the last')
  t.equal((await ask('GET', '?limit=0')).statusCode, 400)
})

t.test('a standby answers for platforms that it knows, and never says that there is none', async (t) => {
  const { ask, driver } = await started(t)
  await ask('POST', '', { name: 'vm', selectionMode: 'LOAD_SHARE', addresses: ['a1'] })
  const { application } = driver
  const query: typeof application.query = application.query.bind(application)
  application.query = async (...asked) => ({ ...(await query(...asked)), role: 'standby', stalenessMs: 700 })
  for (const [method, path] of [
    ['GET', ''],
    ['POST', '/selections'],
  ] as const) {
    t.match(await ask(method, `/vm${path}`), { statusCode: 200, headers: { 'x-pulsefold-role': 'standby' } })
    const unknown = await ask(method, `/other${path}`)
    t.match([unknown.headers, body(unknown)], [{ 'retry-after': '1' }, { status: 503, code: 'NOT_OWNED' }])
  }
})
