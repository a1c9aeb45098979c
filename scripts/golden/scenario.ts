import { settingsWith } from '../../common/settings.js'
import type { Settings } from '../../common/settings.js'
import { processors } from '../../processors/index.js'
import { siteRegister } from '../../processors/site/index.js'
import type { EffectRequest, Effector, JournalEvent, Processor } from '../../topology/processor.js'
import type { TopologyTestDriver } from '../../topology/test-driver.js'

/** What a golden journal of a domain is recorded of. */
export interface Scenario {
  readonly domain: string
  readonly settings?: Partial<Settings>
  /** What the outside answers to an effect. */
  readonly perform: (request: EffectRequest) => JournalEvent
  readonly play: (actor: Actor) => Promise<void>
}

/** Does what clients, producers and time do. */
export interface Actor {
  readonly driver: TopologyTestDriver
  /** Each is named anew; answers with what its fold said. */
  readonly command: (key: string | { readonly partition: number }, type: string, data: object) => Promise<unknown>
  /** An event over HTTP. */
  readonly ingest: (key: string, type: string, data: object) => Promise<void>
}

export function actorOf(driver: TopologyTestDriver, domain: string): Actor {
  let commands = 0
  return {
    driver,
    async command(key, type, data) {
      const options = { commandId: `command-${++commands}`, actor: 'golden', reason: 'recorded', timeoutMs: 60_000 }
      const to = typeof key === 'string' ? { key } : key
      const [result] = await Promise.all([
        driver.application.command(domain, to, { type, data }, options),
        driver.settle(),
      ])
      if (!result.ok) throw new Error(`${type}: ${result.message}`)
      return result.answer
    },
    async ingest(key, type, data) {
      await Promise.all([
        driver.application.ingest(domain, [{ key, event: { type, data }, original: null }]),
        driver.settle(),
      ])
    },
  }
}

/** The processor of a scenario, with its outside. */
export function scenarioProcessor({ domain, settings = {}, perform }: Scenario): Processor {
  const answering = (kind: string): Effector => ({
    kind,
    deadlineMs: 1000,
    perform: (request) => Promise.resolve(perform(request)),
  })
  const keepAliveKinds = ['routing-manager-call', 'routing-manager-attempt', 'pod-lookup', 'pod-deletion']
  const all = processors({
    settings: settingsWith({ applicationId: 'test', ...settings }),
    dmiHealthCheck: answering('dmi-health-check'),
    keepAliveEffectors: keepAliveKinds.map(answering),
    alertmanager: answering('alertmanager-post'),
    random: () => 0,
  })
  const found = [...all, siteRegister('test-site') as Processor].find(({ name }) => name === domain)
  if (found === undefined) throw new Error(`there is no domain ${domain}`)
  return found
}
