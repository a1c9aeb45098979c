import { createHash } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { memoryProvider } from '../../state-stores/memory/provider.js'
import type { Audit } from '../../topology/audit/audit.js'
import { replayJournals } from '../../topology/audit/replay-journals.js'
import { openArchive } from '../../topology/archive/archive-source.js'
import { writeArchive } from '../../topology/archive/write-archive.js'
import type { JournalSource } from '../../topology/audit/journal-source.js'
import { TopologyTestDriver } from '../../topology/test-driver.js'
import { projectDirectory } from '../project-directory.js'
import { addressHealthScenario } from './address-health.js'
import { keepAliveScenario } from './keep-alive.js'
import { actorOf, scenarioProcessor } from './scenario.js'
import type { Scenario } from './scenario.js'
import { siteRegisterScenario } from './site-register.js'
import { trustLevelScenario } from './trust-level.js'

/** One a domain: its journal is kept in the repository, and must always fold to the state that it folded to. */
export const scenarios: readonly Scenario[] = [
  trustLevelScenario,
  keepAliveScenario,
  addressHealthScenario,
  siteRegisterScenario,
]

export function goldenDirectory(domain: string): string {
  return join(projectDirectory, 'scripts', 'golden', 'journals', domain)
}

/** Plays a scenario and keeps its journals, in place of those there were. */
export async function recordGolden(scenario: Scenario): Promise<void> {
  const driver = new TopologyTestDriver({ processors: [scenarioProcessor(scenario)], partitions: 2 })
  await driver.start()
  await scenario.play(actorOf(driver, scenario.domain))
  await driver.advance(3000)
  const directory = goldenDirectory(scenario.domain)
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  await writeArchive(auditOf(scenario, { reader: driver.log }), { directory })
  await driver.stop()
}

/** The golden journals of a domain, to be folded by the present code. */
export async function goldenAudit(scenario: Scenario): Promise<Audit> {
  return auditOf(scenario, await openArchive(goldenDirectory(scenario.domain)))
}

/** What the golden journals of a domain fold to: 12 digits for all partitions, in their order. */
export async function goldenDigest(scenario: Scenario): Promise<string> {
  const replayed = await replayJournals(await goldenAudit(scenario), { until: { kind: 'end' } })
  const digests = replayed.map(({ digest }) => digest).join()
  return createHash('sha256').update(digests).digest('hex').slice(0, 12)
}

function auditOf(scenario: Scenario, source: JournalSource): Audit {
  const stores = memoryProvider()
  let opened = 0
  return {
    source,
    applicationId: 'test',
    processors: [scenarioProcessor(scenario)],
    openStore: () => stores.open(`store-${++opened}`),
  }
}
