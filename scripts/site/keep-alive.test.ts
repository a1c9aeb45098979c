import t from 'tap'
import type { Test } from 'tap'
import type { RoutingManagerRequest } from '../../processors/keep-alive/effect-requests.js'
import { ROUTING_MANAGER_ATTEMPT, ROUTING_MANAGER_CALL } from '../../processors/keep-alive/effect-requests.js'
import { keepAlive, keepAliveQueries } from '../../processors/keep-alive/index.js'
import { E2T, E2T_2, messageRecord, RIC, testSettings } from '../../processors/keep-alive/test-kit.js'
import type { SiteName } from '../../processors/site/index.js'
import type { MessageName } from '../../schemas/keep-alive/message-types.js'
import type { Effector, EffectRequest, JournalEvent, Processor } from '../../topology/processor.js'
import { by } from './test-sender.js'
import { PARTITIONS } from './test-site-parts.js'
import { TestSites } from './test-sites.js'
import type { TestSite } from './test-sites.js'

const STEP_MS = 50
const TIME_OUT_MS = testSettings.keepAliveResponseTimeoutMs
const [WELL, DYING] = [E2T, E2T_2]

/** Two sites, and E2 terminations that answer each request at the site that takes traffic. */
class Terminations {
  readonly sites: TestSites
  readonly answering = new Set([WELL, DYING])
  /** When each site has sent its requests. */
  readonly requestsAt: Record<SiteName, number[]> = { primary: [], secondary: [] }
  /** Instances whose end was told to the Routing Manager: by whom, and when. */
  readonly kills: { readonly site: SiteName; readonly address: string; readonly at: number }[] = []
  readonly #read = new Map<string, number>()
  #ids = 0

  constructor(t: Test) {
    this.sites = new TestSites({ processors: (site) => [this.#processor(site)] })
    t.teardown(() => this.sites.stop())
  }

  get now(): number {
    return this.sites.clock.monotonic()
  }

  async start(): Promise<void> {
    await this.sites.start()
    for (const address of this.answering) {
      await this.#send(this.sites.primary, 'E2_TERM_INIT', address, { address, pod_name: '' })
    }
    await this.run(3000)
  }

  async run(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += STEP_MS) await this.#step()
  }

  async until(what: string, holds: () => boolean): Promise<void> {
    for (let passed = 0; !holds(); passed += STEP_MS) {
      if (passed > 120_000) throw new Error(`not within two minutes: ${what}\n${this.sites.tell()}`)
      await this.#step()
    }
  }

  async instances(site: TestSite): Promise<readonly string[]> {
    const query = keepAliveQueries.e2tInstances
    const result = await site.site.streams.query('keep-alive', query, RIC, { ric: RIC })
    if (!result.ok) throw new Error('the site does not answer')
    return result.result.map(({ e2tAddress }) => e2tAddress)
  }

  async #step(): Promise<void> {
    await this.sites.advance(STEP_MS)
    for (const site of this.sites.both) {
      if (site.running === undefined) continue
      for (let partition = 0; partition < PARTITIONS; partition++) {
        const sent = await this.#newRequests(site, partition)
        for (let n = 0; n < sent; n++) {
          this.requestsAt[site.name].push(this.now)
          const taker = this.sites.both.find(({ takesTraffic }) => takesTraffic)
          for (const address of this.answering) {
            if (taker !== undefined) await this.#send(taker, 'E2_TERM_KEEP_ALIVE_RESP', address, { address })
          }
        }
      }
    }
  }

  async #newRequests({ name, running }: TestSite, partition: number): Promise<number> {
    const at = { topic: 'e2t-keep-alive-requests', partition }
    if ((await running?.log.topic(at.topic)) === undefined) return 0
    const place = `${name}/${partition}`
    const batch = await running?.log.read(at, this.#read.get(place) ?? 0)
    if (batch !== undefined) this.#read.set(place, batch.next)
    return batch?.records.length ?? 0
  }

  async #send({ running }: TestSite, name: MessageName, source: string, data: object): Promise<void> {
    await running?.log.append('e2t-messages', 0, [messageRecord(`m-${++this.#ids}`, name, source, data)])
  }

  #processor(site: SiteName): Processor {
    const perform = ({ payload, id }: EffectRequest): Promise<JournalEvent> => {
      const { ric, call, method, path, body } = payload as RoutingManagerRequest
      const told = JSON.stringify(body)
      for (const address of [WELL, DYING]) {
        if (method === 'DELETE' && told.includes(address)) this.kills.push({ site, address, at: this.now })
      }
      const data = { ric, call, effectId: id, succeeded: true, outcome: `${method} ${path}` }
      return Promise.resolve({ type: 'RoutingManagerCalled', data })
    }
    const effectors = [ROUTING_MANAGER_CALL, ROUTING_MANAGER_ATTEMPT].map((kind): Effector => ({
      kind,
      deadlineMs: 2500,
      perform,
    }))
    return keepAlive({ settings: testSettings, messagesTopic: 'e2t-messages', ricId: RIC, effectors })
  }
}

/** Nobody is killed on the word of the former site: silence counts from the new one's first request. */
async function expectAFullTimeOut(t: Test, run: Terminations): Promise<void> {
  const { sites, kills, requestsAt } = run
  await run.until('the dead one is killed', () => kills.length > 0)
  await run.run(5000)
  const first = requestsAt.secondary[0] ?? Infinity
  t.match(kills, [{ site: 'secondary', address: DYING }], 'by the active site, and nobody else')
  t.equal(kills.length, 1)
  t.ok(Number(kills[0]?.at) - first >= TIME_OUT_MS - STEP_MS, 'one full time-out')
  t.same(await run.instances(sites.secondary), [WELL])
}

t.test(
  'keep-alive after a failover: the fenced site asks and kills nobody, the new one gives a full time-out',
  async (t) => {
    const run = new Terminations(t)
    const { sites, requestsAt, kills, answering } = run
    await run.start()
    t.same(await run.instances(sites.primary), [WELL, DYING])
    t.same([requestsAt.primary.length > 2, requestsAt.secondary, kills], [true, [], []], 'only the active site asks')
    answering.delete(DYING)
    await run.run(TIME_OUT_MS - 500)
    void sites.secondary.site.act('failover', by)
    await run.until('failed over', () => sites.isSteady() && sites.secondary.consumes)
    const sent = requestsAt.primary.length
    await expectAFullTimeOut(t, run)
    t.equal(requestsAt.primary.length, sent, 'the fenced site asks nobody any more')
    t.ok(requestsAt.secondary.length > 5, 'the new one goes on')
  },
)

t.test(
  'keep-alive after a take-over: all were silent longer than the time-out, and nobody is killed for that',
  async (t) => {
    const run = new Terminations(t)
    const { sites, requestsAt, kills, answering } = run
    await run.start()
    answering.delete(DYING)
    await run.run(TIME_OUT_MS - 500)
    sites.primary.crash()
    await run.until('taken over', () => sites.secondary.site.record.phase === 'STEADY' && sites.secondary.consumes)
    t.same(kills, [])
    await sites.while(sites.primary.start())
    const sent = requestsAt.primary.length
    await expectAFullTimeOut(t, run)
    t.equal(requestsAt.primary.length, sent, 'one that comes back to find the other active asks nobody')
  },
)
