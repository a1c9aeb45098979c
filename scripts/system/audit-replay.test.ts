import t from 'tap'
import { memoryProvider } from '../../state-stores/memory/provider.js'
import type { Audit } from '../../topology/audit/audit.js'
import { explain } from '../../topology/audit/explain.js'
import { replayJournals } from '../../topology/audit/replay-journals.js'
import { stateAt } from '../../topology/audit/state-at.js'
import { verify } from '../../topology/audit/verify.js'
import { whatIf } from '../../topology/audit/what-if.js'
import { writeArchive } from '../../topology/archive/write-archive.js'
import { TopologyTestDriver } from '../../topology/test-driver.js'
import { scenarios } from '../golden/golden-journals.js'
import { actorOf, scenarioProcessor } from '../golden/scenario.js'

const end = { kind: 'end' } as const

t.test(
  'OR-06 audits of all domains on a live system append nothing, ask nothing of the outside, move no position',
  async (t) => {
    const asked: string[] = []
    const processors = scenarios.map((scenario) =>
      scenarioProcessor({
        ...scenario,
        perform(request) {
          asked.push(`${request.kind} ${request.target}`)
          return scenario.perform(request)
        },
      }),
    )
    const driver = new TopologyTestDriver({ processors, partitions: 2 })
    await driver.start()
    t.teardown(() => driver.stop())
    for (const scenario of scenarios) await scenario.play(actorOf(driver, scenario.domain))
    await driver.advance(3000)
    t.ok(
      asked.some((one) => one.startsWith('routing-manager')),
      'the history has calls of the Routing Manager',
    )
    t.ok((await driver.read('alarms')).length > 0, 'and alarms')

    const digests = await driver.digests()
    const standing = async (): Promise<unknown> => {
      const topics = await driver.log.topics()
      const ends = topics.flatMap(({ name, partitions }) =>
        [...Array(partitions).keys()].map(async (partition) => [
          name,
          await driver.log.offsets({ topic: name, partition }),
        ]),
      )
      return [await Promise.all(ends), await driver.digests(), asked.length]
    }
    const before = await standing()
    const called = new Set<string>()
    /** Reads as the log does, and notes what is asked of it. */
    const reader = new Proxy(driver.log, {
      get(target, name) {
        called.add(String(name))
        const member = Reflect.get(target, name) as unknown
        return typeof member === 'function' ? (member.bind(target) as unknown) : member
      },
    })
    const stores = memoryProvider()
    let opened = 0
    const audit: Audit = {
      source: { reader },
      applicationId: 'test',
      processors,
      openStore: () => stores.open(`store-${++opened}`),
    }
    const replayed = await replayJournals(audit, { until: end })
    t.same(Object.fromEntries(replayed.map((one) => [`${one.domain}/${one.partition}`, one.digest])), digests)
    t.ok((await verify(audit, {})).every(({ verdict }) => verdict === 'equal'))
    const time = driver.clock.now() - 60_000
    for (const subject of ['dev-1', 'AACCE', 'voicemail']) {
      await stateAt(audit, { question: { kind: 'subject', subject }, at: { kind: 'time', time } })
      t.ok(
        (await explain(audit, { subject, at: end, limit: 5, every: true })).some(({ steps }) => steps.length > 0),
        subject,
      )
    }
    await whatIf(audit, { set: { maxFutureSkewMs: 1 }, until: end })
    await writeArchive(audit, { directory: t.testdir() })
    t.same([...called].sort(), ['offsetForTime', 'offsets', 'read', 'topic'], 'audits read, and nothing else')
    t.same(await standing(), before)
  },
)
