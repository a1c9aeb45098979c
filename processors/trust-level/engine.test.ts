import t from 'tap'
import type { DmiPluginAnswer } from '../../schemas/trust-level/journal-events.js'
import type { LogRecord } from '../../topology/log/log.js'
import type { EffectRequest, Effector, JournalEvent, Processor } from '../../topology/processor.js'
import { TopologyTestDriver } from '../../topology/test-driver.js'
import { DMI_HEALTH_CHECK } from './effects/dmi-health-check-request.js'
import { trustLevel, trustLevelQueries } from './index.js'
import { checked, JOURNAL, PLUGIN, testSettings } from './test-kit.js'
import type { Condition } from './views.js'

/** The domain in the real engine, on memory stores: what the fold kit leaves out. */

const DOMAIN = 'trust-level'
const TOPIC = 'dmi-device-heartbeat'
const queries = trustLevelQueries(JOURNAL)

class Run {
  readonly down = new Set<string>()
  readonly checks: EffectRequest[] = []
  readonly driver: TopologyTestDriver
  #commands = 0

  constructor() {
    const effector: Effector = {
      kind: DMI_HEALTH_CHECK,
      deadlineMs: 2_000,
      perform: async (request) => {
        this.checks.push(request)
        return checked(request.target, !this.down.has(request.target))
      },
    }
    const options = { settings: testSettings, heartbeatTopic: TOPIC, journalTopic: JOURNAL, effectors: [effector] }
    const processors: Processor[] = [trustLevel(options)]
    this.driver = new TopologyTestDriver({ processors, partitions: 3 })
  }

  async command(key: string, event: JournalEvent): Promise<unknown> {
    const options = { commandId: `command-${++this.#commands}`, timeoutMs: 60_000 }
    const [result] = await Promise.all([
      this.driver.application.command(DOMAIN, { key }, event, options),
      this.driver.settle(),
    ])
    if (!result.ok) throw new Error(result.message)
    return result.answer
  }

  async register(...handles: string[]): Promise<void> {
    const event = { type: 'DmiPluginRegistered', data: { plugin: PLUGIN } }
    const { plugin } = (await this.command(PLUGIN, event)) as DmiPluginAnswer
    for (const cmHandle of handles) {
      const alternateId = `alt/${cmHandle}`
      await this.command(alternateId, {
        type: 'AlternateIdsClaimed',
        data: { claims: [{ alternateId, cmHandle }], claimId: 'claim' },
      })
      const names = { dmiPlugin: PLUGIN, dmiDataPlugin: '', dmiModelPlugin: '' }
      const texts = { moduleSetTag: '', dataProducerIdentifier: '', cmHandleStatus: '', trustLevel: null }
      const properties = { publicProperties: [{ name: '__proto__', value: 'x' }], additionalProperties: [] }
      const data = {
        plugins: { ...names, dmiDatajobsReadPlugin: '', dmiDatajobsWritePlugin: '' },
        plugin,
        claimId: 'claim',
        removed: [],
        created: [{ cmHandle, alternateId, ...texts, ...properties }],
        updated: [],
        upgraded: [],
      }
      t.match(await this.command(cmHandle, { type: 'CmHandlesRegistered', data }), { failedCreated: [] })
    }
  }

  heartbeat(cmHandle: string, level: string): Promise<void> {
    const headers = {
      ce_specversion: '1.0',
      ce_id: cmHandle,
      ce_type: 'org.onap.cm.events.trustlevel-notification',
      ce_source: 'dmi',
      'content-type': 'application/json',
    }
    return this.driver.pipe(TOPIC, {
      key: Buffer.from('unrelated'),
      value: Buffer.from(JSON.stringify({ data: { trustLevel: level } })),
      headers: Object.entries(headers).map(([name, value]) => [name, Buffer.from(value)]),
    })
  }

  async level(cmHandle: string): Promise<unknown> {
    const { application } = this.driver
    const result = await application.query(DOMAIN, queries.cmHandle, cmHandle, { cmHandle })
    if (!result.ok) throw new Error(result.message)
    return result.result.found ? result.result.handle.trustLevel : result.result
  }

  async search(...conditions: Condition[]): Promise<string[]> {
    const pages = await this.driver.application.queryAll(DOMAIN, queries.search, { conditions, fields: 'id' })
    return pages.flatMap((page) => (page.ok ? page.result.texts : ['?'])).sort()
  }

  /** As a reader sees them who drops what comes again under the same id. */
  async notices(): Promise<string[]> {
    const records = await this.driver.read('ncmp-inventory-events')
    const idOf = ({ headers }: LogRecord): string => String(headers.find(([name]) => name === 'ce_id')?.[1])
    const unique = [...new Map(records.map((record) => [idOf(record), record])).values()]
    return unique.map(({ key, value }) => `${String(key)} ${/new\w+":"(\w+)/.exec(String(value))?.[1] ?? ''}`).sort()
  }
}

const NONE: Condition = { kind: 'trustLevel', level: 'NONE' }
const COMPLETE: Condition = { kind: 'trustLevel', level: 'COMPLETE' }

t.test('registrations, heartbeats, health checks and searches, over crashes of the process', async (t) => {
  const run = new Run()
  await run.driver.start()
  await run.register('dev-1', 'dev-2', 'dev-3')
  await run.heartbeat('dev-1', 'NONE')
  await run.heartbeat('unknown', 'NONE')
  t.equal(await run.level('dev-1'), 'NONE')
  t.match(await run.level('unknown'), { found: false, pendingSince: Number })
  t.strictSame(await run.search(NONE), ['dev-1'])
  t.strictSame(await run.search(COMPLETE), ['dev-2', 'dev-3'])
  const found = await run.driver.application.query(DOMAIN, queries.alternateId, 'alt/dev-2', {
    alternateId: 'alt/dev-2',
  })
  t.match(found, { ok: true, result: { cmHandle: 'dev-2' } })

  run.driver.crash()
  await run.driver.start()
  t.strictSame(await run.search(NONE), ['dev-1'])

  run.down.add(PLUGIN)
  await run.driver.advance(60_000, 500)
  t.ok(run.checks.length >= 1)
  t.strictSame(await run.search(NONE), ['dev-1', 'dev-2', 'dev-3'])
  t.strictSame(await run.notices(), ['dev-1 NONE', 'dev-2 NONE', 'dev-3 NONE'])

  const before = await run.driver.digests()
  run.driver.crash()
  await run.driver.start()
  t.strictSame(await run.driver.digests(), before)

  run.down.clear()
  await run.driver.advance(60_000, 500)
  t.strictSame(await run.search(COMPLETE), ['dev-1', 'dev-2', 'dev-3'])
  t.equal((await run.notices()).length, 6)

  await run.driver.advance(5 * 60_000, 2_000)
  const deadLetters = await run.driver.deadLetters()
  t.equal(deadLetters.length, 1)
  t.match(await run.level('unknown'), { found: false, pendingSince: null })
  await run.driver.stop()
})
