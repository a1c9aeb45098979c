import t from 'tap'
import type { Test } from 'tap'
import { partitionOf } from '../../topology/partitioner.js'
import { DOMAIN, testCluster, untilLive } from './test-cluster.js'
import type { TestCluster, TestInstance } from './test-cluster.js'

const PLUGIN = 'http://dmi-1'
const ids = Array.from({ length: 60 }, (_, i) => `dev-${String(i).padStart(2, '0')}`)

async function pair(t: Test): Promise<{ cluster: TestCluster; a: TestInstance; b: TestInstance }> {
  const cluster = await testCluster(t)
  const [a, b] = [await cluster.start(), await cluster.start()]
  await untilLive(cluster.partitions, a, b)
  return { cluster, a, b }
}

const register = (at: TestInstance, cmHandles: readonly string[], headers: Record<string, string> = {}) =>
  at.request({
    method: 'POST',
    url: '/ncmpInventory/v1/ch',
    headers,
    payload: { dmiPlugin: PLUGIN, createdCmHandles: cmHandles.map((cmHandle) => ({ cmHandle })) },
  })

const report = (at: TestInstance, cmHandle: string, trustLevel: string) =>
  at.request({
    method: 'POST',
    url: '/events',
    headers: {
      ...{ 'ce-specversion': '1.0', 'ce-id': cmHandle, 'ce-source': 'test', 'content-type': 'application/json' },
      'ce-type': 'org.onap.cps.ncmp.events.trustlevel.DeviceTrustLevel',
    },
    payload: { data: { trustLevel } },
  })

t.test('any instance registers, reads and searches what others own', async (t) => {
  const { cluster, a, b } = await pair(t)
  t.equal((await register(a, ids.slice(0, 30))).statusCode, 200)
  t.equal((await register(b, ids.slice(30))).statusCode, 200)
  for (const instance of [a, b]) {
    for (const id of ids) {
      const answer = await instance.request(`/ncmp/v1/ch/${id}`)
      const { topic } = instance.streams.journal(DOMAIN)
      const partition = partitionOf(id, cluster.partitions)
      t.match(answer.json(), { cmHandle: id, trustLevel: 'COMPLETE' })
      t.match(answer.headers, {
        'x-pulsefold-role': 'active',
        'x-pulsefold-position': new RegExp(`^${topic}/${partition}/\\d+$`),
        'x-pulsefold-staleness-ms': /^\d+$/,
      })
    }
    const found = await instance.request({ method: 'POST', url: '/ncmp/v1/ch/id-searches', payload: {} })
    t.same(found.json<string[]>().sort(), ids)
    t.equal(String(found.headers['x-pulsefold-position']).split(',').length, cluster.partitions, 'of each partition')
    t.match((await instance.request('/ops/dmi-plugins')).json(), [{ plugin: PLUGIN, cmHandles: 60 }])
    t.equal((await instance.request('/ncmp/v1/ch/unknown')).statusCode, 404, 'a live task says so')
  }
  t.same([...a.errors, ...b.errors], [])
})

t.test('what was written at one instance is read at another, from the position it told', async (t) => {
  const { a, b } = await pair(t)
  await register(a, ids)
  for (const [i, id] of ids.entries()) {
    const [writer, reader] = i % 2 === 0 ? [a, b] : [b, a]
    const taken = await report(writer, id, 'NONE')
    t.equal(taken.statusCode, 202)
    const position = String(taken.headers['x-pulsefold-position'])
    const headers = { 'x-pulsefold-min-position': position }
    t.match((await reader.request({ url: `/ncmp/v1/ch/${id}`, headers })).json(), { trustLevel: 'NONE' }, id)
  }
})

t.test('a position that is not reached in time is refused, wherever it is asked', async (t) => {
  const { a, b } = await pair(t)
  await register(a, ids)
  const { topic } = a.streams.journal(DOMAIN)
  const asked = [0, 1, 2, 3].flatMap((partition) => [a, b].map((instance) => ({ instance, partition })))
  const answers = await Promise.all(
    asked.map(({ instance, partition }) => {
      const id = ids.find((candidate) => partitionOf(candidate, 4) === partition)!
      const headers = { 'x-pulsefold-min-position': `${topic}/${partition}/1000000` }
      return instance.request({ url: `/ncmp/v1/ch/${id}`, headers })
    }),
  )
  for (const answer of answers) t.match(answer, { statusCode: 503, headers: { 'retry-after': '1' } })
})
