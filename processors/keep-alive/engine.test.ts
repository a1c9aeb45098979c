import t from 'tap'
import { keepAliveTimes } from '../../common/keep-alive-times.js'
import type { MessageName } from '../../schemas/keep-alive/message-types.js'
import type { EffectRequest, Effector, InputRecord, JournalEvent } from '../../topology/processor.js'
import { TopologyTestDriver } from '../../topology/test-driver.js'
import { ROUTING_MANAGER_ATTEMPT, ROUTING_MANAGER_CALL } from './effect-requests.js'
import type { RoutingManagerRequest } from './effect-requests.js'
import { keepAlive } from './keep-alive.js'
import { keepAliveQueries } from './queries.js'
import { messageRecord, RIC, testSettings } from './test-kit.js'

const REQUESTS = 'e2t-keep-alive-requests'
const MESSAGES = 'e2t-messages'
const STEP_MS = 50

/** The domain on the whole engine, with E2 terminations that answer over the topics. */
class EngineRun {
  readonly driver: TopologyTestDriver
  readonly answering = new Set<string>()
  /** Ingest waits here for ever, as long as it is set. */
  ingestStalls = false
  /** The Routing Manager gives no answer. */
  routingManagerAway = false
  readonly calls: string[] = []
  #read = 0
  #ids = 0

  constructor() {
    const effector = (kind: string): Effector => ({ kind, deadlineMs: 2500, perform: (request) => this.#call(request) })
    const processor = keepAlive({
      settings: { ...testSettings, ...keepAliveTimes('default', NOT_GIVEN) },
      messagesTopic: MESSAGES,
      ricId: RIC,
      effectors: [ROUTING_MANAGER_CALL, ROUTING_MANAGER_ATTEMPT].map(effector),
    })
    const inputs = processor.inputs.map((input) => ({
      ...input,
      decode: async (record: InputRecord) => {
        while (this.ingestStalls) await new Promise((resolve) => this.driver.clock.setTimer(() => resolve(null), 20))
        return input.decode(record)
      },
    }))
    this.driver = new TopologyTestDriver({
      processors: [{ ...processor, inputs }],
      partitions: 2,
    })
  }

  async start(addresses: readonly string[]): Promise<void> {
    await this.driver.start()
    for (const address of addresses) {
      await this.send('E2_TERM_INIT', address, { address, pod_name: '' })
      this.answering.add(address)
    }
    await this.run(2000)
  }

  async send(name: MessageName, source: string, data: unknown): Promise<void> {
    const partition = source.endsWith('1') ? 1 : 0
    await this.driver.log.append(MESSAGES, partition, [messageRecord(`m-${++this.#ids}`, name, source, data)])
  }

  /** Lets time pass; who answers does so a step after each request. */
  async run(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += STEP_MS) {
      const requests = await this.driver.read(REQUESTS)
      for (const { headers } of requests.slice(this.#read)) {
        const only = headers.find(([name]) => name === 'ce_e2t')?.[1].toString()
        for (const address of this.answering) {
          if (only === undefined || only === address) await this.send('E2_TERM_KEEP_ALIVE_RESP', address, { address })
        }
      }
      this.#read = requests.length
      await this.driver.advance(STEP_MS, STEP_MS)
    }
  }

  /** How long until the instance is no longer listed, ms. */
  async goneAfter(address: string, withinMs = 5000): Promise<number> {
    for (let passed = 0; passed < withinMs; passed += STEP_MS) {
      if (!(await this.list()).includes(address)) return passed
      await this.run(STEP_MS)
    }
    return Infinity
  }

  async list(): Promise<readonly string[]> {
    const answer = await this.driver.application.query('keep-alive', keepAliveQueries.e2tInstances, RIC, { ric: RIC })
    return answer.ok ? answer.result.map(({ e2tAddress }) => e2tAddress) : []
  }

  #call({ id, payload }: EffectRequest): Promise<JournalEvent> {
    const { ric, call, method, path, body } = payload as RoutingManagerRequest
    if (this.routingManagerAway) return Promise.reject(new Error('refused'))
    this.calls.push(`${method} ${path} ${JSON.stringify(body)}`)
    const data = { ric, call, effectId: id, succeeded: true, outcome: 'answered 201' }
    return Promise.resolve({ type: 'RoutingManagerCalled', data })
  }
}

const NOT_GIVEN = { keepAliveDelayMs: 0, keepAliveResponseTimeoutMs: 0, e2tInstanceDeletionTimeoutMs: 0 }
const ALL = Array.from({ length: 4 }, (_, i) => `e2t-${i}`)

t.test('TS-04 no step of the wall clock removes anyone, or saves who is silent', async (t) => {
  const run = new EngineRun()
  await run.start(ALL)
  run.driver.clock.stepWall(60_000)
  await run.run(3000)
  t.strictSame(await run.list(), ALL)
  run.driver.clock.stepWall(-120_000)
  run.answering.delete('e2t-2')
  const goneAfter = await run.goneAfter('e2t-2')
  t.ok(goneAfter >= 1500 && goneAfter <= 2500, `${goneAfter} ms`)
  t.strictSame(await run.list(), ['e2t-0', 'e2t-1', 'e2t-3'])
  await run.driver.stop()
})

t.test('HS-02 after a stop of a minute only who died meanwhile is removed, and not before its time', async (t) => {
  const run = new EngineRun()
  await run.start(ALL)
  run.driver.crash()
  run.answering.delete('e2t-3')
  await run.driver.clock.advance(60_000)
  await run.driver.start()
  const goneAfter = await run.goneAfter('e2t-3')
  t.ok(goneAfter >= 1500 && goneAfter <= 3000, `${goneAfter} ms after the start`)
  t.strictSame(await run.list(), ['e2t-0', 'e2t-1', 'e2t-2'])
  await run.driver.stop()
})

t.test('HS-01 a dead ingest beside a healthy owner makes nobody silent', async (t) => {
  const run = new EngineRun()
  await run.start(ALL)
  run.ingestStalls = true
  await run.run(1000)
  // One of them dies while nobody can hear it.
  run.answering.delete('e2t-1')
  await run.run(9000)
  t.strictSame(await run.list(), ALL, 'ticks go on, and nobody is killed')
  run.ingestStalls = false
  await run.run(500)
  t.strictSame(await run.list(), ALL, 'what lay there counts as of now')
  t.ok((await run.goneAfter('e2t-1')) < 3000)
  t.strictSame(await run.list(), ['e2t-0', 'e2t-2', 'e2t-3'])
  await run.driver.stop()
})

t.test('HS-17 what is owed to the Routing Manager is done once it is back, by the next start, and once', async (t) => {
  const run = new EngineRun()
  await run.start(['e2t-0', 'e2t-1'])
  run.calls.length = 0
  run.routingManagerAway = true
  run.answering.delete('e2t-1')
  await run.run(4000)
  const owed = await run.driver.application.query('keep-alive', keepAliveQueries.owedCalls, RIC, {})
  t.match(owed, { result: [{ e2tAddress: 'e2t-1', purpose: 'delete' }] })
  run.driver.crash()
  run.routingManagerAway = false
  await run.driver.start()
  await run.run(2000)
  t.strictSame(run.calls, [], 'a call of the former owner may be under way')
  await run.run(2000)
  t.strictSame(run.calls, ['DELETE e2t {"E2TAddress":"e2t-1"}'])
  t.strictSame(await run.list(), ['e2t-0'])
  run.driver.crash()
  await run.driver.start()
  await run.run(4000)
  t.equal(run.calls.length, 1, 'a start that folds it again repeats nothing')
  await run.driver.stop()
})

t.test('TS-06 times in messages are not read: nobody lives for ever by them, or dies at once', async (t) => {
  const run = new EngineRun()
  await run.start(['e2t-0', 'e2t-1'])
  for (const timestamp of ['1710064800123456789', '1710064800']) {
    const headers = Object.entries({
      ce_specversion: '1.0',
      ce_id: `odd-${timestamp}`,
      ce_source: 'e2t-1',
      ce_type: 'org.oran.e2.E2_TERM_KEEP_ALIVE_RESP',
      ce_time: timestamp,
    }).map(([name, value]) => [name, Buffer.from(value)] as const)
    const value = Buffer.from(`{"address":"e2t-1","timestamp":${timestamp}}`)
    await run.driver.pipe(MESSAGES, { key: null, value, headers, timestamp: Number(timestamp.slice(0, 15)) })
  }
  await run.run(1000)
  t.strictSame(await run.list(), ['e2t-0', 'e2t-1'])
  run.answering.delete('e2t-1')
  const goneAfter = await run.goneAfter('e2t-1')
  t.ok(goneAfter >= 1500 && goneAfter <= 2500, `${goneAfter} ms`)
  await run.driver.stop()
})

t.test('the journal holds what was sent and what was taken in, each request once', async (t) => {
  const run = new EngineRun()
  await run.start(['e2t-0'])
  await run.run(2000)
  const events = new Map<string, number>()
  const codec = run.driver.application.codecOf('test-keep-alive-journal')
  for (const { value } of await run.driver.read('test-keep-alive-journal')) {
    for (const entry of value === null ? [] : (codec?.decode(value) ?? [])) {
      if (entry.kind === 'event') events.set(entry.event.type, (events.get(entry.event.type) ?? 0) + 1)
    }
  }
  const requests = await run.driver.read(REQUESTS)
  const ids = requests.map(({ headers }) => headers.find(([name]) => name === 'ce_id')?.[1].toString())
  t.equal(new Set(ids).size, requests.length)
  const broadcasts = requests.filter(({ headers }) => !headers.some(([name]) => name === 'ce_e2t'))
  t.equal(events.get('KeepAliveRequestSent'), broadcasts.length)
  t.equal(events.get('E2tMessagesTakenIn'), broadcasts.length, 'one for each tick, and no more')
  await run.driver.stop()
})
