import t from 'tap'
import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import { systemClock } from '../../common/clock.js'
import { handOver } from '../../topology/cluster/hand-over.js'
import { partitionOf } from '../../topology/partitioner.js'
import { testCluster, turn, untilLive } from './test-cluster.js'
import type { TestInstance } from './test-cluster.js'

const PLUGIN = 'http://dmi-1'
const NOTHING_FOUND = 404

const register = (at: TestInstance, cmHandles: readonly string[]) =>
  at.request({
    method: 'POST',
    url: '/ncmpInventory/v1/ch',
    payload: {
      dmiPlugin: PLUGIN,
      createdCmHandles: cmHandles.map((cmHandle) => ({ cmHandle, alternateId: `/alt/${cmHandle}` })),
    },
  })

/** Posts levels in one batch; the positions joined, as a read can demand them. */
async function report(at: TestInstance, cmHandles: readonly string[], trustLevel: string): Promise<string> {
  const events = cmHandles.map((id) => ({
    ...{ specversion: '1.0', id, source: 'test', type: 'org.onap.cps.ncmp.events.trustlevel.DeviceTrustLevel' },
    data: { data: { trustLevel } },
  }))
  const answer = await at.request({
    method: 'POST',
    url: '/events',
    headers: { 'content-type': 'application/cloudevents-batch+json' },
    payload: JSON.stringify(events),
  })
  if (answer.statusCode !== 202) throw new Error(answer.body)
  return String(answer.headers['x-pulsefold-position'])
}

/** Asks again where the answer is 503; that must come with Retry-After. */
async function patiently(at: () => TestInstance, options: InjectOptions): Promise<LightMyRequestResponse> {
  for (;;) {
    const answer = await at().request(options)
    if (answer.statusCode !== 503) return answer
    if (answer.headers['retry-after'] === undefined) throw new Error(`503 without Retry-After: ${answer.body}`)
    await turn()
  }
}

const idsOf = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `dev-${i}`)

t.test('HT-06 look-ups and searches at two instances while a third comes and goes', async (t) => {
  const cluster = await testCluster(t, 6)
  const [a, b] = [await cluster.start(), await cluster.start()]
  await untilLive(6, a, b)
  const ids = idsOf(100)
  t.equal((await register(a, ids)).statusCode, 200)
  const wrong: string[] = []
  const counts = { answered: 0, unavailable: 0, searches: 0 }
  let isOver = false
  const lane = async (which: number): Promise<void> => {
    for (let n = which; !isOver; n += 7) {
      const [at, id] = [n % 2 === 0 ? a : b, ids[n % ids.length] ?? '']
      const isSearch = n % 5 === 0
      const reference = n % 3 === 0 ? encodeURIComponent(`/alt/${id}`) : id
      const answer = await at.request(
        isSearch ? { method: 'POST', url: '/ncmp/v1/ch/id-searches', payload: {} } : `/ncmp/v1/ch/${reference}`,
      )
      const { statusCode, headers, body } = answer
      if (statusCode === 503 && headers['retry-after'] !== undefined) counts.unavailable++
      else if (statusCode !== 200) wrong.push(`${reference}: ${statusCode} ${body}`)
      else if (isSearch && answer.json<string[]>().length !== ids.length) wrong.push('a list that is not whole')
      else if (!isSearch && answer.json<{ cmHandle: string }>().cmHandle !== id) wrong.push(body)
      else {
        counts.answered++
        if (isSearch) counts.searches++
      }
      await turn()
    }
  }
  const lanes = Promise.all([0, 1, 2, 3].map(lane))
  for (let round = 0; round < 6; round++) {
    const c = await cluster.start()
    await untilLive(6, a, b, c)
    await c.stop()
    await untilLive(6, a, b)
  }
  const before = counts.answered
  while (counts.answered < before + 50) await turn()
  isOver = true
  await lanes
  t.same(wrong, [])
  t.ok(counts.answered > 50 && counts.searches > 0, JSON.stringify(counts))
  t.equal((await a.request('/ncmp/v1/ch/never-registered')).statusCode, NOTHING_FOUND)
})

t.test('HT-08 pages at different instances, while states change and partitions move', async (t) => {
  const cluster = await testCluster(t, 6)
  const [a, b] = [await cluster.start(), await cluster.start()]
  await untilLive(6, a, b)
  const ids = idsOf(600)
  t.equal((await register(a, ids)).statusCode, 200)
  const always = ids.filter((_, i) => i % 2 === 0)
  const flipped = ids.filter((_, i) => i % 2 === 1)
  let position = await report(a, always, 'NONE')
  const payload = {
    cmHandleQueryParameters: [
      { conditionName: 'cmHandleWithTrustLevel', conditionParameters: [{ trustLevel: 'NONE' }] },
    ],
  }
  let asked: readonly TestInstance[] = [a, b]
  let c: TestInstance | undefined
  const found: string[] = []
  let url: string | undefined = '/ncmp/v1/ch/id-searches?limit=40'
  for (let page = 0; url !== undefined; page++) {
    const headers = page === 0 ? { 'x-pulsefold-min-position': position } : {}
    const at = (): TestInstance => asked[page % asked.length] ?? a
    const answer = await patiently(at, { method: 'POST', url, headers, payload })
    t.equal(answer.statusCode, 200, answer.body.slice(0, 200))
    found.push(...answer.json<string[]>())
    url = /^<(.*)>/.exec(String(answer.headers['link'] ?? ''))?.[1]
    position = await report(
      a,
      flipped.slice((page * 50) % 250, ((page * 50) % 250) + 50),
      page % 2 ? 'COMPLETE' : 'NONE',
    )
    if (page === 1) {
      c = await cluster.start()
      await untilLive(6, a, b, c)
      asked = [b, c, a]
    }
    if (page === 4) {
      await c?.stop()
      asked = [a, b]
      await untilLive(6, a, b)
    }
  }
  t.equal(new Set(found).size, found.length, 'none twice')
  const missing = always.filter((id) => !found.includes(id))
  t.same(missing, [], 'none missing')
})

t.test('an instance that is cut off: without standbys its partitions have no answer, others have', async (t) => {
  const cluster = await testCluster(t, 4, 0)
  const [a, b] = [await cluster.start(), await cluster.start()]
  await untilLive(4, a, b)
  const ids = idsOf(40)
  await register(a, ids)
  await b.cutOff()
  const answers = await Promise.all(ids.map((id) => a.request({ url: `/ncmp/v1/ch/${id}/state` })))
  for (const { statusCode, headers } of answers) {
    t.ok(statusCode === 200 || (statusCode === 503 && headers['retry-after'] === '1'), String(statusCode))
  }
  t.ok(answers.some(({ statusCode }) => statusCode === 200))
  t.ok(answers.some(({ statusCode }) => statusCode === 503))
  const search = await a.request({ method: 'POST', url: '/ncmp/v1/ch/id-searches', payload: {} })
  t.equal(search.statusCode, 503, 'no list that is not whole')
  t.match(a.errors, [{ code: /PEER_UNREACHABLE|PEER_BROKEN_OFF/ }])
})

t.test('an instance that is cut off: its standbys answer, and say how old that is', async (t) => {
  const cluster = await testCluster(t, 4)
  const [a, b] = [await cluster.start(), await cluster.start()]
  await untilLive(4, a, b)
  const ids = idsOf(40)
  await register(a, ids)
  const [position, isWarm] = [await report(a, ids, 'NONE'), { 'x-pulsefold-max-staleness-ms': '600000' }]
  await b.cutOff()
  const search: InjectOptions = { method: 'POST', url: '/ncmp/v1/ch/id-searches', payload: {} }
  const whole = await patiently(() => a, { ...search, headers: { ...isWarm, 'x-pulsefold-min-position': position } })
  t.match([whole.statusCode, whole.headers['x-pulsefold-role']], [200, 'standby'])
  t.same(whole.json<string[]>().sort(), [...ids].sort())
  const roles = new Set<unknown>()
  for (const id of ids) {
    const { statusCode, headers, body } = await a.request(`/ncmp/v1/ch/${id}/state`)
    roles.add(headers['x-pulsefold-role'])
    t.equal(statusCode, 200, body)
    t.match(headers['x-pulsefold-staleness-ms'], /^\d+$/)
  }
  t.same([...roles].sort(), ['active', 'standby'])
  const unknown = Array.from({ length: 100 }, (_, i) => `unknown-${i}`)
  const [ofB = ''] = unknown.filter((id) => b.live().includes(partitionOf(id, 4)))
  const [ofA = ''] = unknown.filter((id) => a.live().includes(partitionOf(id, 4)))
  t.equal((await a.request(`/ncmp/v1/ch/${ofB}`)).statusCode, 503, 'a standby cannot know')
  t.equal((await a.request(`/ncmp/v1/ch/${ofA}`)).statusCode, NOTHING_FOUND)
})

t.test('SH-01 an instance that leaves hands over: it answers or passes on all the while, and takes acts', async (t) => {
  const cluster = await testCluster(t, 4)
  const [a, b] = [await cluster.start(), await cluster.start()]
  await untilLive(4, a, b)
  const ids = idsOf(40)
  t.equal((await register(a, ids)).statusCode, 200)
  await report(a, ids, 'NONE')
  const search = { method: 'POST', url: '/ncmp/v1/ch/id-searches', payload: {} } as const
  for (const at of [a, b]) await patiently(() => at, search)
  const statuses = new Set<number>()
  let isOver = false
  const lane = async (at: TestInstance): Promise<void> => {
    for (let n = 0; !isOver; n++) {
      statuses.add((await at.request(`/ncmp/v1/ch/${ids[n % ids.length]}`)).statusCode)
      await turn()
    }
  }
  const lanes = Promise.all([a, b].map(lane))
  t.notSame(a.live(), [], 'it has something to hand over')
  const leaving = handOver({ ...a, clock: systemClock })
  t.match(await a.request('/ops/health/ready'), { statusCode: 503, body: /the service is stopping/ })
  const act = await register(a, ['dev-new'])
  t.equal(await leaving, true)
  t.same(b.live().length, 4)
  isOver = true
  await lanes
  t.match([act.statusCode, (await a.request('/ncmp/v1/ch/dev-new')).statusCode], [200, 200])
  t.equal((await a.request('/ncmp/v1/ch/unknown')).statusCode, NOTHING_FOUND, 'a live task says so')
  t.notOk(statuses.has(NOTHING_FOUND), [...statuses].join())
  for (const status of statuses) t.ok(status === 200 || status === 503, String(status))
  const answers = await Promise.all(ids.map((id) => a.request(`/ncmp/v1/ch/${id}`)))
  for (const answer of answers) t.match(answer, { statusCode: 200, headers: { 'x-pulsefold-role': 'active' } })
})
