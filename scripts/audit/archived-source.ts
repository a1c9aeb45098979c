import { openArchive } from '../../topology/archive/archive-source.js'
import { withHistory } from '../../topology/archive/history.js'
import type { JournalReader, JournalSource } from '../../topology/audit/journal-source.js'

/** Archives that an audit reads. */
export interface ArchiveDirectories {
  /** In place of the log. */
  readonly archive?: string | undefined
  /** For what the log no longer has. */
  readonly history?: string | undefined
}

/** What an audit reads of archives and log together. Errors: ARCHIVE_UNREADABLE, ARCHIVE_DAMAGED, ARCHIVE_OTHER. */
export async function archivedSource(
  { archive, history }: ArchiveDirectories,
  log: JournalReader,
): Promise<JournalSource> {
  if (archive !== undefined) return openArchive(archive)
  return history === undefined ? { reader: log } : withHistory(await openArchive(history), log)
}
