import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { realBrokers } from '../../topology/log/kafka/real-brokers.js'
import { PLUGIN, temporaryFolder } from './fixtures.js'
import { inFull } from './full-length.js'
import { spawnPulsefold } from './real-process.js'
import type { RealProcess } from './real-process.js'
import { until } from './until.js'

const PARTITIONS = 6
const ids = Array.from({ length: 1000 }, (_, i) => `dev-${i}`)
const brokers = realBrokers(t)

/** Starts instances of one application, which no other test knows. */
function application(t: Test): () => RealProcess {
  const folder = temporaryFolder(t)
  const applicationId = `test-${randomUUID()}`
  let instances = 0
  return () => {
    const own = join(folder, String(++instances))
    mkdirSync(own)
    return spawnPulsefold(t, own, {
      values: {
        ...{ kafkaBrokers: brokers, applicationId, partitions: PARTITIONS, createInputTopics: true },
        ...{ heartbeatTopic: `${applicationId}-heartbeats`, trustLevelNoticeTopic: `${applicationId}-notices` },
      },
    })
  }
}

const live = ({ metric }: RealProcess): Promise<number> => metric('pulsefold_task_state', 'state="LIVE"', 'trust-level')

/** Resolves when each has its share, live. */
async function untilShared(...instances: readonly RealProcess[]): Promise<void> {
  await until(
    'each instance has its share',
    async () => {
      const shares = await Promise.all(instances.map(live))
      return shares.every((share) => share > 0) && shares.reduce((sum, share) => sum + share) === PARTITIONS
    },
    60_000,
  )
}

if (brokers.length > 0) {
  t.test(
    'HT-06 two processes on Kafka: each answers and registers for both, also while one is killed and started again',
    async (t) => {
      const start = application(t)
      const [a, b] = [start(), start()]
      await Promise.all([a.ready, b.ready])
      await untilShared(a, b)
      await a.register(PLUGIN, ids)

      for (const instance of [a, b]) {
        const answers = await Promise.all(ids.slice(0, 100).map((id) => instance.ask(`/ncmp/v1/ch/${id}`)))
        for (const { status, headers, text } of answers) {
          t.match([status, headers['x-pulsefold-role']], [200, 'active'], text.slice(0, 100))
        }
        t.same((await instance.search()).sort(), [...ids].sort())
        t.equal((await instance.ask('/ncmp/v1/ch/unknown')).status, 404)
      }

      // Read your own write, at the other instance.
      for (const [i, id] of ids.slice(0, 50).entries()) {
        const [writer, reader] = i % 2 === 0 ? [a, b] : [b, a]
        const position = await writer.report([[id, 'NONE']])
        t.equal(await reader.level(id, { 'x-pulsefold-min-position': position }), 'NONE', id)
      }

      const wrong: string[] = []
      const counts = { owner: 0, standby: 0, unavailable: 0 }
      let isOver = false
      const lane = async (which: number): Promise<void> => {
        for (let n = which; !isOver; n += 3) {
          const id = ids[n % ids.length] ?? ''
          const { status, headers, text } = await a.ask(`/ncmp/v1/ch/${id}`)
          if (status === 503 && headers['retry-after'] !== undefined) counts.unavailable++
          else if (status !== 200) wrong.push(`${id}: ${status} ${text}`)
          else if (!text.includes(`"${id}"`)) wrong.push(text)
          else if (headers['x-pulsefold-role'] === 'active') counts.owner++
          else if (Number(headers['x-pulsefold-staleness-ms']) > 0) counts.standby++
          else wrong.push(`${id}: a standby that tells no staleness`)
        }
      }
      /** Each request again with its key until it is done: it must then be told so, and not that it was there already. */
      const registered: string[] = []
      const registrations = async (): Promise<void> => {
        for (let n = 0; !isOver; n++) {
          const created = Array.from({ length: 6 }, (_, i) => `late-${n}-${i}`)
          const createdCmHandles = created.map((cmHandle) => ({ cmHandle, alternateId: `/late/${cmHandle}` }))
          const asked = { body: { dmiPlugin: PLUGIN, createdCmHandles }, headers: { 'idempotency-key': `late-${n}` } }
          let answer = await a.ask('/ncmpInventory/v1/ch', asked)
          for (; answer.status !== 200; answer = await a.ask('/ncmpInventory/v1/ch', asked)) {
            const isOpen = answer.status === 503 || answer.status === 504 || !/"errorCode":"(?!108")/.test(answer.text)
            if (!isOpen) wrong.push(`late-${n}: ${answer.status} ${answer.text}`)
            if (!isOpen) break
          }
          registered.push(...created)
        }
      }
      const lanes = Promise.all([...[0, 1, 2, 3].map(lane), registrations()])
      b.kill('SIGKILL')
      await b.ended
      const killedAt = performance.now()
      await until('one instance has all partitions', async () => (await live(a)) === PARTITIONS, 60_000)
      const movedMs = performance.now() - killedAt
      const again = start()
      await again.ready
      await untilShared(a, again)
      isOver = true
      await lanes
      t.same(wrong, [])
      t.comment(`moved after ${movedMs.toFixed(0)} ms; answers: ${JSON.stringify(counts)}`)
      t.equal(await again.level('dev-0'), 'NONE')
      t.same((await again.search()).sort(), [...ids, ...registered].sort())
      t.ok(registered.length > 0)
    },
  )

  t.test('HT-06 a process that was paused never says that what it has missed does not exist', async (t) => {
    const start = application(t)
    const [a, b] = [start(), start()]
    await Promise.all([a.ready, b.ready])
    await untilShared(a, b)
    await a.register(PLUGIN, ids)
    t.equal((await b.search()).length, ids.length)
    const registeredAt = performance.now()
    await until('the standbys have what was registered', async () => {
      const staleMs = (await a.metric('pulsefold_standby_staleness_seconds', 'trust-level')) * 1000
      return staleMs > 0 && staleMs < performance.now() - registeredAt
    })
    b.kill('SIGSTOP')
    const slowest: number[] = []
    const wrong: string[] = []
    const lookUp = async (at: RealProcess, id: string): Promise<string> => {
      const started = performance.now()
      const { status, headers, text } = await at.ask(`/ncmp/v1/ch/${id}`)
      slowest.push(performance.now() - started)
      const isRight = status === 200 ? text.includes(`"${id}"`) : status === 503 && headers['retry-after'] !== undefined
      if (!isRight) wrong.push(`${id}: ${status} ${text}`)
      return `${status} ${String(headers['x-pulsefold-role'])}`
    }
    const whilePaused = await Promise.all(ids.slice(0, 200).map((id) => lookUp(a, id)))
    t.ok(whilePaused.includes('200 standby') && whilePaused.includes('200 active'), [...new Set(whilePaused)].join())
    t.comment(`the slowest took ${Math.max(...slowest).toFixed(0)} ms`)
    t.ok(Math.max(...slowest) < inFull(4500, Infinity))
    await until('the other has all partitions', async () => (await live(a)) === PARTITIONS, 60_000)
    const missed = Array.from({ length: 100 }, (_, i) => `missed-${i}`)
    await a.register(PLUGIN, missed)
    // They wait at the paused process, and are the first that it sees.
    const asked = Promise.all(missed.map((id) => lookUp(b, id)))
    b.kill('SIGCONT')
    t.comment(`as it goes on: ${JSON.stringify(Object.fromEntries(countsOf(await asked)))}`)
    await untilShared(a, b)
    for (const at of [a, b]) {
      t.same(new Set(await Promise.all(missed.map((id) => lookUp(at, id)))), new Set(['200 active']))
    }
    t.same(wrong, [])
  })
}

function countsOf(texts: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  return counts
}
