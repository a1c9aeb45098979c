import { systemClock } from '../../common/clock.js'
import { loadSettings } from '../../common/settings.js'
import type { Settings } from '../../common/settings.js'
import { openArchive } from '../../topology/archive/archive-source.js'
import type { Audit } from '../../topology/audit/audit.js'
import type { JournalSource } from '../../topology/audit/journal-source.js'
import { openKafkaLog } from '../../topology/log/kafka/kafka-log.js'
import { declaredProcessors } from '../process/declared-processors.js'
import { kafkaSecurity } from '../process/kafka-security.js'
import { projectDirectory } from '../project-directory.js'
import { apiReader } from './api-reader.js'
import { openEmbeddedReader } from './embedded-reader.js'
import { scratchStores } from './scratch-stores.js'

/** Which journals an audit reads: of a running instance, or of the log that the settings name. */
export interface SourceFlags {
  readonly url?: string
  readonly archive?: string
  readonly token?: string
}

export interface OpenedAudit extends Audit {
  readonly settings: Settings
  /** What it reads is of the instance whose data directory the settings name. */
  readonly isOfSettings: boolean
  close(): Promise<void>
}

/** Opens what the flags name, for reading; stores to fold into are in a temporary directory, which goes with `close`. */
export async function openAudit(
  source: SourceFlags,
  settingsFlags: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<OpenedAudit> {
  const { settings } = loadSettings({ flags: settingsFlags, environment, projectDirectory })
  const opened = await openSource({ token: settings.auditToken, ...source }, settings)
  const { applicationId } = opened
  const scratch = scratchStores()
  return {
    source: opened.source,
    settings: { ...settings, applicationId },
    isOfSettings: source.url === undefined && source.archive === undefined,
    applicationId,
    processors: declaredProcessors({ ...settings, applicationId }),
    openStore: () => scratch.openStore(),
    async close() {
      await opened.close()
      await scratch.remove()
    },
  }
}

interface OpenedSource {
  readonly source: JournalSource
  readonly applicationId: string
  close(): Promise<void>
}

async function openSource({ url, archive, token = '' }: SourceFlags, settings: Settings): Promise<OpenedSource> {
  if (archive !== undefined) {
    const source = await openArchive(archive)
    return { source, applicationId: source.applicationId, close: () => Promise.resolve() }
  }
  if (url !== undefined) {
    const reader = apiReader(url, token)
    const { applicationId } = await reader.about()
    return { source: { reader }, applicationId, close: () => Promise.resolve() }
  }
  const { applicationId, kafkaBrokers } = settings
  const log =
    kafkaBrokers.length === 0
      ? await openEmbeddedReader(settings.dataDir)
      : await openKafkaLog({
          brokers: kafkaBrokers,
          clientId: `${applicationId}-audit`,
          ...kafkaSecurity(settings),
          clock: systemClock,
          onFatal: () => undefined,
          onClientLog: () => undefined,
        })
  return { source: { reader: log }, applicationId, close: () => log.close() }
}
