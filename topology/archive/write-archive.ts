import { journalsOf, withFold } from '../audit/audit.js'
import type { Audit, AuditedJournal, AuditScope } from '../audit/audit.js'
import { entryTimes } from '../audit/events-up-to.js'
import type { JournalFold } from '../audit/journal-fold.js'
import type { JournalReader } from '../audit/journal-source.js'
import { progressOver } from '../audit/progress.js'
import type { OnProgress } from '../audit/replay-journals.js'
import type { Entry, KeyValueStore } from '../../state-stores/key-value-store.js'
import type { TopicPartition } from '../log/log.js'
import { names } from '../names.js'
import type { Folded } from '../task/folder.js'
import type { RowChange } from '../task/row-store.js'
import { engineTables, tableRuntimes } from '../task/table-runtime.js'
import { copiesOf } from '../audit/loaded-records.js'
import { archiveSource } from './archive-source.js'
import { ArchiveWriter } from './archive-writer.js'
import type { Archived } from './archive-writer.js'
import { decisiveChanges } from './decisive-keys.js'
import { encodeRows } from './files.js'
import { withHistory } from './history.js'
import { encodeKeys } from './keys.js'
import type { SegmentKeys } from './keys.js'
import type { SegmentFold } from './lines.js'
import type { Masking } from './mask.js'
import { readSegment, segmentReader } from './segment-records.js'
import { lockArchive } from './writer-lock.js'

export interface ArchiveRequest extends AuditScope {
  readonly directory: string
  /** Of an audit pack: what the log stamped from here to there, ms. Absent: from where the archive ends; to the end. */
  readonly fromTime?: number | undefined
  readonly toTime?: number | undefined
  /** Has replaced fields in what the audit's reader reads. */
  readonly masking?: Masking | undefined
  /** Bytes of records in a segment. */
  readonly segmentBytes?: number
  readonly onProgress?: OnProgress
}

const SEGMENT_BYTES = 1024 * 1024
/** A seal may come so much later than what it seals: its changelog's interval, and a slow log. */
const SEAL_DELAY_MS = 60_000

/**
 * Takes journals, their seals, and what there is of another site's journals into an archive, from where it ends on. A segment is in it when its line is, so a writer may
 * be killed anywhere and run again. Errors: ARCHIVE_OTHER, ARCHIVE_DAMAGED, ARCHIVE_IN_USE.
 */
export async function writeArchive(audit: Audit, request: ArchiveRequest): Promise<Archived> {
  const unlock = await lockArchive(request.directory)
  return write(audit, request).finally(unlock)
}

async function write(audit: Audit, request: ArchiveRequest): Promise<Archived> {
  const writer = await ArchiveWriter.open(request.directory, audit.applicationId, audit.source.masked ?? [])
  const journals = await journalsOf(audit, request)
  const { reader } = audit.source
  const ends = await Promise.all(journals.map(({ journal }) => endOf(reader, journal, request.toTime)))
  const progress = progressOver(ends, request.onProgress)
  for (const audited of journals) {
    const { processor, journal } = audited
    await writer.describeCode(processor)
    await takeJournal(writer, audit, audited, request, progress.part())
    const digests = { topic: names.digests(audit.applicationId, processor.store), partition: journal.partition }
    await takeAsIs(writer, reader, digests, request, SEAL_DELAY_MS)
    const peerJournal = audit.peerJournal?.(processor.name)
    for (const topic of copiesOf(journal.topic, peerJournal)) {
      await takeAsIs(writer, reader, { topic, partition: journal.partition }, request)
    }
  }
  return writer.archived
}

async function takeJournal(
  writer: ArchiveWriter,
  audit: Audit,
  audited: AuditedJournal,
  request: ArchiveRequest,
  onProgress: (offset: number) => void,
): Promise<void> {
  const { journal } = audited
  const { source } = audit
  const { masking } = request
  const range = await rangeOf(writer, source.reader, journal, request)
  if (range === undefined) return
  const { from, end, isNew } = range
  // What the archive has is folded from it: the journal may no longer reach back so far.
  const folded = isNew ? source : withHistory(archiveSource(writer.directory, writer.contents), source.reader)
  let serving: Pick<JournalReader, 'offsets' | 'read'> = folded.reader
  // Another site's journal is looked into as well.
  const servingOf = ({ topic }: TopicPartition): typeof serving => (topic === journal.topic ? serving : folded.reader)
  let onFolded: (folded: Folded) => void = () => undefined
  const reader: JournalReader = {
    topic: (name) => folded.reader.topic(name),
    offsetForTime: (partition, time) => folded.reader.offsetForTime(partition, time),
    offsets: (partition) => servingOf(partition).offsets(partition),
    read: (partition, offset, options) => servingOf(partition).read(partition, offset, options),
  }
  const auditing = { ...audit, source: { ...folded, reader } }
  await withFold(auditing, audited, from, { onFolded: (one) => onFolded(one), onProgress }, async (fold) => {
    await fold.foldTo(from)
    if (masking !== undefined) for await (const page of fold.rows.store.entries()) masking.learn(page)
    let sinceSnapshot = 0
    let stateBytes = 0
    while (fold.offset < end) {
      const at = fold.offset
      const segment = await readSegment(folded.reader, journal, at, end, request.segmentBytes ?? SEGMENT_BYTES)
      const rows = sinceSnapshot >= stateBytes ? await dump(await fold.store()) : undefined
      const begin = rows && {
        snapshot: await writer.writeFile(journal, at, 'snapshot', encodeRows(rows)),
        state: { ...fold.folder.state },
        digestBefore: fold.digest.serialize().toString('base64'),
      }
      if (rows !== undefined) {
        stateBytes = bytesOfRows(rows)
        sinceSnapshot = 0
      }
      sinceSnapshot += segment.records.reduce((sum, { value }) => sum + (value?.length ?? 0), 0)
      const noted = noteSegment(fold)
      onFolded = noted.onFolded
      serving = segmentReader(segment)
      await fold.foldTo(segment.to)
      const keys = await writer.writeFile(journal, at, 'keys', encodeKeys(noted.keys()))
      const after = { digestAfter: fold.digest.rows.toHex(), keys, ...noted.times(), gaps: [...fold.gaps] }
      const records = masking?.withoutNames(segment.records, fold.codec, noted.unasked) ?? segment.records
      await writer.addSegment(journal, { ...segment, records, from: at }, { ...begin, ...after })
      await writer.mergeKeys(journal)
    }
    writer.addGaps(fold.gaps)
  })
}

/** What is to be taken of a journal; undefined: nothing. */
async function rangeOf(
  writer: ArchiveWriter,
  reader: JournalReader,
  journal: TopicPartition,
  { fromTime, toTime }: Pick<ArchiveRequest, 'fromTime' | 'toTime'>,
): Promise<{ readonly from: number; readonly end: number; readonly isNew: boolean } | undefined> {
  const described = await reader.topic(journal.topic)
  if (described !== undefined) await writer.describeTopic(described)
  const last = writer.contents.segmentsOf(journal).at(-1)
  const from = last?.to ?? (fromTime === undefined ? 0 : await reader.offsetForTime(journal, fromTime))
  const end = await endOf(reader, journal, toTime)
  return from < end ? { from, end, isNew: last === undefined } : undefined
}

async function endOf(reader: JournalReader, journal: TopicPartition, toTime: number | undefined): Promise<number> {
  return toTime === undefined ? (await reader.offsets(journal)).end : reader.offsetForTime(journal, toTime + 1)
}

/** Seals, and what a site has of another one's journal, go in as they are: nothing is folded. */
async function takeAsIs(
  writer: ArchiveWriter,
  reader: JournalReader,
  partition: TopicPartition,
  { fromTime, toTime, segmentBytes = SEGMENT_BYTES }: ArchiveRequest,
  delayMs = 0,
): Promise<void> {
  if ((await reader.topic(partition.topic)) === undefined) return
  const range = await rangeOf(writer, reader, partition, {
    fromTime,
    toTime: toTime === undefined ? undefined : toTime + delayMs,
  })
  if (range === undefined) return
  let from = Math.max(range.from, (await reader.offsets(partition)).start)
  while (from < range.end) {
    const segment = await readSegment(reader, partition, from, range.end, segmentBytes)
    await writer.addSegment(partition, { ...segment, from })
    from = segment.to
  }
}

/** Notes what the entries folded from here on change, and their times. */
function noteSegment(fold: JournalFold): {
  readonly keys: () => SegmentKeys
  readonly onFolded: (folded: Folded) => void
  /** Places (`offset:index`) of timers that were not armed, and of results of effects that were not owed. */
  readonly unasked: ReadonlySet<string>
  readonly times: () => Pick<SegmentFold, 'leastTime' | 'mostTime'>
} {
  const { processor } = fold
  const prefixes = new Map(
    tableRuntimes(processor.tables).flatMap(({ table, prefix, digested }) => (digested ? [[table, prefix]] : [])),
  )
  const timeOf = entryTimes(processor, fold.folder.state)
  const changed = new Set<string>()
  const decisive = new Set<string>()
  const unasked = new Set<string>()
  let leastTime = Number.MAX_SAFE_INTEGER
  let mostTime = 0
  return {
    keys: () => ({ changed: [...changed].sort(), decisive: [...decisive].sort() }),
    unasked,
    onFolded({ entry, position, timestamp, changes }) {
      const asked = entry.kind === 'timer' ? engineTables.deadlines : engineTables.owed
      const isAnswer = entry.kind === 'timer' || (entry.kind === 'event' && entry.effectId !== undefined)
      if (isAnswer && !changes.some(({ table }) => table === asked)) unasked.add(`${position.offset}:${position.index}`)
      const time = timeOf(entry, timestamp)
      leastTime = Math.min(leastTime, time)
      mostTime = Math.max(mostTime, time)
      const kept = changes.filter(({ table }) => prefixes.has(table))
      const keyOf = ({ table, key }: RowChange): string => `${prefixes.get(table) ?? ''}${key}`
      for (const change of kept) changed.add(keyOf(change))
      for (const change of decisiveChanges(fold, kept)) decisive.add(keyOf(change))
    },
    times: () => ({ leastTime, mostTime }),
  }
}

/** All rows of a fold, index entries too. */
async function dump(store: KeyValueStore): Promise<readonly Entry[]> {
  const rows: Entry[] = []
  for await (const page of store.entries()) for (const entry of page) rows.push(entry)
  return rows
}

function bytesOfRows(rows: readonly Entry[]): number {
  return rows.reduce((sum, [key, value]) => sum + key.length + value.length, 0)
}
