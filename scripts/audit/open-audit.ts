import { systemClock } from '../../common/clock.js'
import { loadSettings } from '../../common/settings.js'
import type { Settings } from '../../common/settings.js'
import { openArchive } from '../../topology/archive/archive-source.js'
import type { Audit } from '../../topology/audit/audit.js'
import type { AllCopies } from '../../topology/audit/copies.js'
import type { JournalReader } from '../../topology/audit/journal-source.js'
import type { Log } from '../../topology/log/log.js'
import { kafkaSecurity } from '../process/kafka-security.js'
import { projectDirectory } from '../project-directory.js'
import { apiReader } from './api-reader.js'
import { archivedSource } from './archived-source.js'
import type { ArchiveDirectories } from './archived-source.js'
import { auditedProcessors, peerJournalOf } from './audited-processors.js'
import { openEmbeddedReader } from './embedded-reader.js'
import { scratchStores } from './scratch-stores.js'

/** Which journals an audit reads: of a running instance, of an archive, or of the log that the settings name. */
export interface SourceFlags extends ArchiveDirectories {
  readonly url?: string
  readonly token?: string
}

export interface OpenedAudit extends Audit {
  readonly settings: Settings
  /** What it reads is of the instance whose data directory the settings name. */
  readonly isOfSettings: boolean
  /** Without archives. */
  readonly log: JournalReader
  /** What running instances hold; absent: what is read is not of running ones. */
  readonly copies?: () => Promise<AllCopies>
  close(): Promise<void>
}

/** Opens what the flags name, for reading; `signal` ends audits of it. Stores to fold into are in a temporary directory, which goes with `close`. */
export async function openAudit(
  flags: SourceFlags,
  settingsFlags: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  signal?: AbortSignal,
): Promise<OpenedAudit> {
  const loaded = loadSettings({ flags: settingsFlags, environment, projectDirectory }).settings
  const settings = namesDirectory(settingsFlags) ? { ...loaded, kafkaBrokers: [] } : loaded
  const { log, applicationId, copies, close } = await openLog(
    { token: settings.auditToken, ...flags },
    settings,
    signal,
  )
  const scratch = scratchStores()
  return {
    source: await archivedSource(flags, log),
    log,
    ...(copies && { copies }),
    settings: { ...settings, applicationId },
    isOfSettings: flags.url === undefined && flags.archive === undefined,
    applicationId,
    processors: auditedProcessors({ ...settings, applicationId }),
    peerJournal: peerJournalOf(settings),
    signal,
    openStore: () => scratch.openStore(),
    async close() {
      await close()
      await scratch.remove()
    },
  }
}

/** A directory that is named on the command line is meant, whatever brokers the environment or a file name. */
function namesDirectory(flags: readonly string[]): boolean {
  const has = (name: string): boolean => flags.some((flag) => flag === name || flag.startsWith(`${name}=`))
  return has('--data-dir') && !has('--kafka-brokers')
}

interface OpenedLog {
  readonly log: JournalReader
  readonly applicationId: string
  readonly copies?: () => Promise<AllCopies>
  readonly close: () => Promise<void>
}

async function openLog(
  { url, archive, token = '' }: SourceFlags,
  settings: Settings,
  signal: AbortSignal | undefined,
): Promise<OpenedLog> {
  if (archive !== undefined) {
    const { reader, applicationId } = await openArchive(archive)
    return { log: reader, applicationId, close: () => Promise.resolve() }
  }
  if (url !== undefined) {
    const log = apiReader(url, token, signal)
    const { applicationId } = await log.about()
    return { log, applicationId, copies: () => log.copies(), close: () => Promise.resolve() }
  }
  const { applicationId } = settings
  const log = await (settings.kafkaBrokers.length === 0
    ? openEmbeddedReader(settings.dataDir)
    : openKafkaReader(settings))
  return { log, applicationId, close: () => log.close() }
}

/** Kafka's client is loaded only where it is needed: questions to an archive are answered sooner. */
async function openKafkaReader(settings: Settings): Promise<Log> {
  const { openKafkaLog } = await import('../../topology/log/kafka/kafka-log.js')
  return openKafkaLog({
    brokers: settings.kafkaBrokers,
    clientId: `${settings.applicationId}-audit`,
    ...kafkaSecurity(settings),
    clock: systemClock,
    onFatal: () => undefined,
    onClientLog: () => undefined,
  })
}
