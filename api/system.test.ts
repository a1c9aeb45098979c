import t from 'tap'
import type { LightMyRequestResponse } from 'fastify'
import { partitionOf } from '../topology/partitioner.js'
import { testSystem } from './test-system.js'
import type { TestSystem } from './test-system.js'

const PLUGIN = 'http://dmi-1:8080'

interface JournalEntry {
  readonly event?: { readonly type: string }
}

const register = async (system: TestSystem, body: object): Promise<LightMyRequestResponse> =>
  system.request({ method: 'POST', url: '/ncmpInventory/v1/ch', payload: { dmiPlugin: PLUGIN, ...body } })

const report = async (system: TestSystem, cmHandle: string, trustLevel: string): Promise<LightMyRequestResponse> =>
  system.request({
    method: 'POST',
    url: '/events',
    payload: JSON.stringify({ data: { trustLevel } }),
    headers: {
      'content-type': 'application/json',
      'ce-specversion': '1.0',
      'ce-id': cmHandle,
      'ce-source': 'dmi',
      'ce-type': 'org.onap.cm.events.trustlevel-notification',
    },
  })

async function levelOf(system: TestSystem, reference: string): Promise<string> {
  const answer = await system.request(`/ncmp/v1/ch/${encodeURIComponent(reference)}`)
  return answer.statusCode === 200 ? answer.json<{ trustLevel: string }>().trustLevel : String(answer.statusCode)
}

async function idsOf(system: TestSystem, trustLevel: string, query = ''): Promise<readonly string[]> {
  const condition = { conditionName: 'cmHandleWithTrustLevel', conditionParameters: [{ trustLevel }] }
  const payload = { cmHandleQueryParameters: [condition] }
  const answer = await system.request({ method: 'POST', url: `/ncmp/v1/ch/id-searches${query}`, payload })
  return answer.json<string[]>().sort()
}

t.test('registered, reported, down with its plugin, and searched by level', async (t) => {
  const system = await testSystem(t)
  const createdCmHandles = [
    { cmHandle: 'CH-1', trustLevel: 'COMPLETE' },
    { cmHandle: 'CH-2', trustLevel: 'COMPLETE' },
    { cmHandle: 'CH-3', alternateId: '/SubNetwork=1/Node=3' },
    { cmHandle: 'CH-4', trustLevel: 'NONE' },
  ]
  t.equal((await register(system, { createdCmHandles })).statusCode, 200)
  t.strictSame(await idsOf(system, 'COMPLETE'), ['CH-1', 'CH-2', 'CH-3'])
  t.strictSame(await idsOf(system, 'NONE'), ['CH-4'])

  const taken = await report(system, 'CH-3', 'NONE')
  t.equal(taken.statusCode, 202)
  const position = String(taken.headers['x-pulsefold-position'])
  const read = await system.request({
    url: `/ncmp/v1/ch/${encodeURIComponent('/SubNetwork=1/Node=3/Cell=1')}?evidence=true`,
    headers: { 'x-pulsefold-min-position': position },
  })
  t.match(read.json(), {
    cmHandle: 'CH-3',
    trustLevel: 'NONE',
    trustEvidence: { ownLevel: 'NONE', plugin: PLUGIN, pluginLevel: 'COMPLETE' },
  })
  const { topic, partition, offset } = read.json<{
    trustEvidence: { decidedBy: { topic: string; partition: number; offset: number } }
  }>().trustEvidence.decidedBy
  t.equal(`${topic}/${partition}/${offset}`, position, 'the heartbeat decided it')

  system.plugins.set(PLUGIN, false)
  await system.driver.advance(60_000, 1000)
  t.strictSame(await idsOf(system, 'COMPLETE'), [])
  t.equal(await levelOf(system, 'CH-1'), 'NONE')
  const plugins = (await system.request('/ops/dmi-plugins')).json<object[]>()
  t.match(plugins, [{ plugin: PLUGIN, trustLevel: 'NONE', cmHandles: 4, reason: 'refused' }])
})

t.test('journal records are shown decoded, with who asked for a change and why', async (t) => {
  const system = await testSystem(t)
  await system.request({
    method: 'POST',
    url: '/ncmpInventory/v1/ch',
    payload: { dmiPlugin: PLUGIN, createdCmHandles: [{ cmHandle: 'ch-1' }] },
    headers: { 'x-pulsefold-actor': 'operator-7', 'x-pulsefold-reason': 'new site' },
  })
  const answer = await system.request('/ops/topics/test-trust-level-journal/records?limit=1000')
  t.equal(answer.statusCode, 200)
  const entries = answer.json<{ records: { value: JournalEntry[] }[] }>().records.flatMap(({ value }) => value)
  for (const type of ['DmiPluginRegistered', 'CmHandlesRegistered']) {
    const entry = entries.find(({ event }) => event?.type === type)
    t.match(entry, { actor: 'operator-7', reason: 'new site' }, type)
  }
  const topics = ['dmi-device-heartbeat', 'ncmp-inventory-events', 'test-dead-letters']
  for (const topic of topics) t.equal((await system.request(`/ops/topics/${topic}/records`)).statusCode, 200, topic)
})

t.test('alternate ids: unique, freed by a removal in the same request or the one before, set once', async (t) => {
  const system = await testSystem(t)
  const one = { cmHandle: 'dev-1', alternateId: 'alt/1' }
  await register(system, { createdCmHandles: [one] })
  const twice = await register(system, { createdCmHandles: [{ cmHandle: 'dev-2', alternateId: 'alt/1' }] })
  t.match(twice.json(), { failedCreatedCmHandles: [{ cmHandle: 'dev-2', errorCode: '109' }] })

  const moved = { removedCmHandles: ['dev-1'], createdCmHandles: [{ cmHandle: 'dev-2', alternateId: 'alt/1' }] }
  t.equal((await register(system, moved)).body, '')
  t.match((await system.request('/ncmp/v1/ch/alt%2F1')).json(), { cmHandle: 'dev-2' })

  t.equal((await register(system, { removedCmHandles: ['dev-2'] })).statusCode, 200)
  t.equal((await register(system, { createdCmHandles: [one] })).body, '', 'at once after the removal')
  t.match((await system.request('/ncmp/v1/ch/alt%2F1')).json(), { cmHandle: 'dev-1' })

  const other = await register(system, { updatedCmHandles: [{ cmHandle: 'dev-1', alternateId: 'alt/2' }] })
  t.match(other.json(), { failedUpdatedCmHandles: [{ cmHandle: 'dev-1', errorCode: '109' }] })
  t.equal((await register(system, { updatedCmHandles: [one] })).body, '', 'its own again')
})

t.test('IV-15 a blank alternate id in an update leaves the stored one', async (t) => {
  const system = await testSystem(t)
  await register(system, { createdCmHandles: [{ cmHandle: 'dev-1', alternateId: 'alt/1' }] })
  for (const update of [{ alternateId: '' }, { alternateId: '  ' }, {}]) {
    t.equal((await register(system, { updatedCmHandles: [{ cmHandle: 'dev-1', ...update }] })).statusCode, 200)
    t.match((await system.request('/ncmp/v1/ch/alt%2F1')).json(), { cmHandle: 'dev-1', alternateId: 'alt/1' })
  }
})

t.test('a registration sent again with its Idempotency-Key gets its first answer', async (t) => {
  const system = await testSystem(t)
  const body = { createdCmHandles: [{ cmHandle: 'dev-1', alternateId: 'alt/1' }, { cmHandle: 'dev-2' }] }
  const send = async (key: string): Promise<LightMyRequestResponse> =>
    system.request({
      method: 'POST',
      url: '/ncmpInventory/v1/ch',
      payload: { dmiPlugin: PLUGIN, ...body },
      headers: { 'idempotency-key': key },
    })
  t.equal((await send('key-1')).statusCode, 200)
  t.equal((await send('key-1')).statusCode, 200)
  t.equal((await send('key-2')).statusCode, 500)
})

t.test('a repeated registration never takes the answer to another claim for its own', async (t) => {
  const system = await testSystem(t)
  const { application, clock, partitions } = system.driver
  // Of one home, so that they are claimed together.
  const [x = '', y = ''] = Array.from('abcdefgh').filter((alternateId) => partitionOf(alternateId, partitions) === 0)
  const send = async (payload: object, key: string): Promise<LightMyRequestResponse> =>
    system.request({ method: 'POST', url: '/ncmpInventory/v1/ch', payload, headers: { 'idempotency-key': key } })
  const claimBy = (type: string, data: object): void => {
    void application.command('trust-level', { key: y }, { type, data }, { commandId: type, timeoutMs: 5000 })
  }
  await register(system, { createdCmHandles: [{ cmHandle: 'holder', alternateId: x }] })
  claimBy('AlternateIdsClaimed', { claims: [{ alternateId: y, cmHandle: 'gone' }], claimId: 'other' })
  await system.driver.settle()
  // Both are refused at first; y comes free while the request waits.
  const free = { alternateId: y, cmHandle: 'gone', claimId: 'other', held: false }
  clock.setTimer(() => claimBy('AlternateIdSettled', free), 100)
  const created = [x, y].map((alternateId) => ({ cmHandle: `dev-${alternateId}`, alternateId }))
  const body = { dmiPlugin: PLUGIN, createdCmHandles: created }
  const first = await send(body, 'key-1')
  t.match(first.json(), { failedCreatedCmHandles: [{ cmHandle: `dev-${x}`, errorCode: '109' }] })
  t.equal(first.json<{ failedCreatedCmHandles: unknown[] }>().failedCreatedCmHandles.length, 1)
  t.equal(await levelOf(system, `dev-${y}`), 'COMPLETE')
  await register(system, { removedCmHandles: ['holder'] })
  await system.driver.settle()
  const again = await send(body, 'key-1')
  t.match([again.statusCode, again.body], [200, ''])
  for (const { cmHandle, alternateId } of created) {
    t.match((await system.request(`/ncmp/v1/ch/${cmHandle}`)).json(), { alternateId })
  }
  const taken = await send({ dmiPlugin: PLUGIN, createdCmHandles: [{ cmHandle: 'late', alternateId: x }] }, 'key-2')
  t.match(taken.json(), { failedCreatedCmHandles: [{ cmHandle: 'late', errorCode: '109' }] })
})

t.test('SE-02 handles and properties named like members of every object', async (t) => {
  const system = await testSystem(t)
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']
  const createdCmHandles = names.map((cmHandle) => ({
    cmHandle,
    publicCmHandleProperties: { constructor: 'c', toString: 't' },
  }))
  t.equal((await register(system, { createdCmHandles })).statusCode, 200)
  for (const name of names) {
    t.equal((await report(system, name, 'NONE')).statusCode, 202)
    t.equal(await levelOf(system, name), 'NONE')
    const shown = await system.request(`/ncmp/v1/ch/${name}/properties`)
    t.equal(shown.body, '{"publicCmHandleProperties":[{"constructor":"c","toString":"t"}]}')
  }
  t.strictSame(await idsOf(system, 'NONE'), [...names].sort())
  t.equal(await levelOf(system, 'valueOf'), '404')
  t.equal((await register(system, { removedCmHandles: names })).statusCode, 200)
  t.strictSame(await idsOf(system, 'NONE'), [])
})

t.test('HT-01 HT-02 references with special characters and of full length', async (t) => {
  const system = await testSystem(t)
  const alternateIds = ['/SubNetwork=1/Node=a', 'a%2Fb', 'a b+c', 'a?b#c', 'a/b', '网'.repeat(2048)]
  const ids = ['x'.repeat(100), 'x'.repeat(101), 'x'.repeat(255), '网'.repeat(60)]
  await register(system, {
    createdCmHandles: [
      ...alternateIds.map((alternateId, i) => ({ cmHandle: `dev-${i}`, alternateId })),
      ...ids.map((cmHandle) => ({ cmHandle })),
    ],
  })
  for (const [i, alternateId] of alternateIds.entries()) {
    const found = await system.request(`/ncmp/v1/ch/${encodeURIComponent(alternateId)}`)
    t.match(found.json(), { cmHandle: `dev-${i}` }, alternateId.slice(0, 20))
  }
  for (const id of ids) t.equal(await levelOf(system, id), 'COMPLETE')
})

t.test('IV-09 wrong words and shapes over HTTP are told, and nothing is taken', async (t) => {
  const system = await testSystem(t)
  await register(system, { createdCmHandles: [{ cmHandle: 'dev-1' }] })
  for (const word of ['POOR', 'none', '', 'COMPLETE ']) {
    const answer = await report(system, 'dev-1', word)
    t.match([answer.statusCode, answer.json()], [400, { code: 'EVENTS_REJECTED', errors: [{ index: 0 }] }], word)
  }
  t.equal(await levelOf(system, 'dev-1'), 'COMPLETE')
})

t.test(
  'an unregistered handle stays 404, its details say that a level is pending; a registration takes it',
  async (t) => {
    const system = await testSystem(t)
    t.equal((await report(system, 'dev-9', 'NONE')).statusCode, 202)
    const answer = await system.request('/ncmp/v1/ch/dev-9')
    t.match([answer.statusCode, answer.json()], [404, { details: /pending since/ }])
    await register(system, { createdCmHandles: [{ cmHandle: 'dev-9' }] })
    t.equal(await levelOf(system, 'dev-9'), 'NONE')
  },
)

t.test('data sync', async (t) => {
  const system = await testSystem(t)
  await register(system, { createdCmHandles: [{ cmHandle: 'dev-1' }] })
  const set = { method: 'PUT', url: '/ncmp/v1/ch/dev-1/data-sync?dataSyncEnabled=true' } as const
  t.equal((await system.request(set)).statusCode, 200)
  t.match((await system.request('/ncmp/v1/ch/dev-1/state')).json(), { state: { dataSyncEnabled: true } })
  t.equal((await system.request({ ...set, url: set.url.replace('dev-1', 'dev-2') })).statusCode, 404)
})

t.test('paged searches over several partitions hold every handle once', async (t) => {
  const system = await testSystem(t)
  const ids = [...Array(300).keys()].map((i) => `dev-${i}`)
  await register(system, { createdCmHandles: ids.map((cmHandle) => ({ cmHandle, trustLevel: 'NONE' })) })
  const condition = { conditionName: 'cmHandleWithTrustLevel', conditionParameters: [{ trustLevel: 'NONE' }] }
  for (const path of ['/ncmp/v1/ch/id-searches', '/ncmp/v2/ch/searches']) {
    const seen: string[] = []
    let url: string | undefined = `${path}?limit=70`
    while (url !== undefined) {
      const payload = { cmHandleQueryParameters: [condition] }
      const page: LightMyRequestResponse = await system.request({ method: 'POST', url, payload })
      t.equal(page.statusCode, 200, page.body)
      seen.push(
        ...page.json<(string | { cmHandle: string })[]>().map((hit) => (typeof hit === 'string' ? hit : hit.cmHandle)),
      )
      url = /^<([^>]+)>/.exec(String(page.headers['link'] ?? ''))?.[1]
    }
    t.strictSame(seen.sort(), [...ids].sort(), path)
  }
})
