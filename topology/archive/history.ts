import type { JournalReader, JournalSource } from '../audit/journal-source.js'
import type { TopicPartition } from '../log/log.js'
import { ArchiveError } from './errors.js'

type Range = Awaited<ReturnType<JournalReader['offsets']>>

/** A partition as both have it. */
interface Places {
  readonly archived: Range
  /** Undefined: the log does not have the topic. */
  readonly live: Range | undefined
  /** Up to here it is read from the archive: of a journal only what the log lacks, since an audit is of the log. */
  readonly archiveTo: number
}

/**
 * Journals that go further back than their log: what the log no longer has is read from an archive, whose snapshots and indexes
 * serve for all that it holds. What neither has is a gap. Errors: ARCHIVE_OTHER for another topic of the same name.
 */
export function withHistory(archive: Required<JournalSource>, log: JournalReader): Required<JournalSource> {
  async function placesOf(partition: TopicPartition): Promise<Places> {
    const archived = await archive.reader.offsets(partition)
    const live = (await log.topic(partition.topic)) === undefined ? undefined : await log.offsets(partition)
    const isJournal = (await archive.parts(partition)).length > 0
    const archiveTo = isJournal ? Math.min(archived.end, live?.start ?? archived.end) : archived.end
    return { archived, live, archiveTo }
  }
  const isEmpty = ({ start, end }: Range): boolean => start === end

  const reader: JournalReader = {
    async topic(name) {
      const [there, archived] = await Promise.all([log.topic(name), archive.reader.topic(name)])
      if (there !== undefined && archived !== undefined && there.incarnation !== archived.incarnation) {
        throw new ArchiveError('ARCHIVE_OTHER', `the archive is of another topic of the name ${name}`)
      }
      return there ?? archived
    },
    async offsets(partition) {
      const { archived, live } = await placesOf(partition)
      if (live === undefined || isEmpty(archived)) return live ?? archived
      return { start: Math.min(archived.start, live.start), end: Math.max(archived.end, live.end) }
    },
    async offsetForTime(partition, timestampMs) {
      const { archived, live, archiveTo } = await placesOf(partition)
      const inArchive = isEmpty(archived) ? archiveTo : await archive.reader.offsetForTime(partition, timestampMs)
      if (live === undefined || (inArchive < archiveTo && archived.start < live.start)) return inArchive
      return log.offsetForTime(partition, timestampMs)
    },
    async read(partition, offset, options) {
      const { archived, live, archiveTo } = await placesOf(partition)
      if (live === undefined || (offset >= archived.start && offset < archiveTo)) {
        const batch = await archive.reader.read(partition, offset, options)
        const records = batch.records.filter((record) => record.offset < archiveTo)
        return { ...batch, records, next: Math.min(batch.next, archiveTo), end: live?.end ?? batch.end }
      }
      if (offset < live.start) return { ...partition, records: [], next: live.start, end: live.end }
      return log.read(partition, offset, options)
    },
  }
  return {
    ...archive,
    reader,
    logStart: async (partition) => {
      const { live, archived } = await placesOf(partition)
      return live?.start ?? archived.start
    },
  }
}
