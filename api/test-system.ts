import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import { pino } from 'pino'
import { memoryProvider } from '../state-stores/memory/provider.js'
import { pluginAddressPolicy } from '../common/plugin-address.js'
import { systemClock } from '../common/clock.js'
import { silentLogger } from '../common/logger.js'
import { settingsWith } from '../common/settings.js'
import type { Settings } from '../common/settings.js'
import { keepAliveEffectors } from '../processors/keep-alive/effects/index.js'
import { processors } from '../processors/index.js'
import { copiesOf } from '../topology/audit/copies.js'
import type { JournalEvent } from '../topology/processor.js'
import { TopologyTestDriver } from '../topology/test-driver.js'
import { createServer } from './server.js'
import type { ApiServer } from './server.js'
import { alarmsTaken } from './test-effectors.js'

/** The real topology in memory, on a clock that the test moves, with the HTTP surface over it. */
export interface TestSystem {
  readonly driver: TopologyTestDriver
  readonly server: ApiServer
  /** What the health check of a plugin finds; all are up at first. */
  readonly plugins: Map<string, boolean>
  /** Answers when everything that follows from the request has settled. */
  request(options: InjectOptions | string): Promise<LightMyRequestResponse>
}

export async function testSystem(
  t: { teardown(close: () => Promise<void>): void },
  changed: Partial<Settings> = {},
): Promise<TestSystem> {
  const plugins = new Map<string, boolean>()
  const settings = settingsWith({ applicationId: 'test', ...changed })
  const dmiHealthCheck = {
    kind: 'dmi-health-check',
    deadlineMs: settings.dmiHealthDeadlineMs,
    perform: ({ target }: { readonly target: string }): Promise<JournalEvent> => {
      const up = plugins.get(target) ?? true
      const data = { plugin: target, up, healthPath: '/manage/health/readiness', reason: up ? 'status UP' : 'refused' }
      return Promise.resolve({ type: 'DmiPluginChecked', data })
    },
  }
  const parts = {
    settings,
    dmiHealthCheck,
    keepAliveEffectors: keepAliveEffectors(settings, systemClock, silentLogger()),
    alertmanager: alarmsTaken,
    random: () => 0.5,
  }
  const driver = new TopologyTestDriver({ processors: processors(parts) })
  await driver.start()
  let ids = 0
  const server = await createServer({
    streams: driver.application,
    clock: driver.clock,
    host: '127.0.0.1',
    port: 0,
    newId: () => `id-${++ids}`,
    logger: pino({ level: 'silent' }),
    pluginAddressPolicy: pluginAddressPolicy(settings, []),
    ricId: 'AACCE',
    ncmpBasePath: '/ncmp',
    ncmpInventoryBasePath: '/ncmpInventory',
    applicationId: settings.applicationId,
    auditToken: settings.auditToken,
    auditSource: () => Promise.resolve({ reader: driver.application.log }),
    openAuditStore: () => memoryProvider().open('audit'),
    auditCopies: () => copiesOf(driver.application),
    decodeRecord: (topic, { value }) => (value === null ? undefined : driver.application.codecOf(topic)?.decode(value)),
    metrics: { contentType: 'text/plain', metrics: () => Promise.resolve('') },
  })
  t.teardown(async () => {
    const stopped = server.stop()
    await driver.settle()
    await stopped
    await driver.stop()
  })
  return {
    driver,
    server,
    plugins,
    async request(options) {
      const waiting = new Set<unknown>()
      const answer = server.app.inject(options).finally(() => waiting.clear())
      waiting.add(answer)
      await driver.settle()
      while (waiting.size > 0) await driver.advance(10)
      return answer
    },
  }
}
