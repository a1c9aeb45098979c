import { deserializeStoreDigest } from '../../state-stores/digest.js'
import type { Gap, JournalPart, JournalReader, JournalSource, Snapshot } from '../audit/journal-source.js'
import { LogError } from '../log/errors.js'
import type { LogRecord, TopicPartition } from '../log/log.js'
import { readChain } from './chain.js'
import { Contents } from './contents.js'
import { ArchiveError } from './errors.js'
import { decodeRecords, decodeRows, readSealed } from './files.js'
import { findMerged, hasKey } from './keys.js'
import type { SegmentBits } from './keys.js'
import type { FileSeal, SegmentLine } from './lines.js'

/** An archive as a source of journals, read without broker or network; each file is checked when it is read. */
export interface ArchiveSource extends Required<JournalSource> {
  readonly contents: Contents
  readonly applicationId: string
}

type OnRead = (file: string) => void
type ReadFile = (seal: FileSeal) => Promise<Buffer>

/** Decoded segments kept in memory. */
const CACHED_SEGMENTS = 4
const DEFAULT_READ_BYTES = 1024 * 1024

/** `onRead` is told of each file that is read. Errors: ARCHIVE_UNREADABLE, ARCHIVE_DAMAGED. */
export async function openArchive(directory: string, onRead?: OnRead): Promise<ArchiveSource> {
  const contents = new Contents((await readChain(directory)).lines)
  if (contents.head === undefined) throw new ArchiveError('ARCHIVE_UNREADABLE', `there is no archive in ${directory}`)
  const { applicationId } = contents.head
  return { contents, applicationId, ...archiveSource(directory, contents, onRead) }
}

/** The same of what is known of an archive, which may go on growing. */
export function archiveSource(
  directory: string,
  contents: Contents,
  onRead: OnRead = () => undefined,
): Required<JournalSource> {
  const read = (seal: FileSeal): Promise<Buffer> => {
    onRead(seal.name)
    return readSealed(directory, seal)
  }
  return {
    reader: archiveReader(read, contents),
    logStart: (journal) => Promise.resolve(contents.segmentsOf(journal)[0]?.from ?? 0),
    masked: contents.head?.masked ?? [],
    snapshotBefore(journal, offset) {
      const line = contents
        .segmentsOf(journal)
        .findLast(({ from, fold }) => from <= offset && fold?.snapshot !== undefined)
      return Promise.resolve(line === undefined ? undefined : snapshotOf(read, line))
    },
    parts(journal) {
      const segments = contents.segmentsOf(journal)
      const merged = contents.mergedKeysOf(journal).map(({ from, to, keys }) => {
        return { to, first: segments.findIndex((segment) => segment.from === from), bitsOf: mergedBits(read, keys) }
      })
      const parts = segments.flatMap(({ from, to, fold }, i): JournalPart[] => {
        if (fold === undefined) return []
        const { keys, leastTime, mostTime } = fold
        const gaps = fold.gaps.filter((gap) => !isBefore(gap, from))
        const group = merged.find((one) => to <= one.to)
        const changes: JournalPart['changes'] = async (rowKeys, kind) =>
          group === undefined
            ? hasKey(await read(keys), kind, rowKeys)
            : (((await group.bitsOf(rowKeys))[kind] >>> (i - group.first)) & 1) === 1
        return [{ from, to, changes, leastTime, mostTime, gaps }]
      })
      return Promise.resolve(parts)
    },
  }
}

/** Reads merged keys once for all segments that are asked for the same rows. */
function mergedBits(read: ReadFile, keys: FileSeal): (rowKeys: readonly string[]) => Promise<SegmentBits> {
  const known = new WeakMap<readonly string[], Promise<SegmentBits>>()
  return (rowKeys) => {
    const bits = known.get(rowKeys) ?? read(keys).then((bytes) => findMerged(bytes, rowKeys))
    known.set(rowKeys, bits)
    return bits
  }
}

function archiveReader(read: ReadFile, contents: Contents): JournalReader {
  const cache = new Map<string, Promise<readonly LogRecord[]>>()

  function recordsOf({ records }: SegmentLine): Promise<readonly LogRecord[]> {
    const known = cache.get(records.name) ?? read(records).then(decodeRecords)
    cache.delete(records.name)
    cache.set(records.name, known)
    const [oldest] = cache.keys()
    if (cache.size > CACHED_SEGMENTS && oldest !== undefined) cache.delete(oldest)
    return known
  }

  const boundsOf = (partition: TopicPartition): { start: number; end: number } => {
    const segments = contents.segmentsOf(partition)
    return { start: segments[0]?.from ?? 0, end: segments.at(-1)?.to ?? 0 }
  }

  return {
    topic(name) {
      const line = contents.topic(name)
      const { partitions = 0, incarnation = '' } = line ?? {}
      return Promise.resolve(line === undefined ? undefined : { name, partitions, incarnation })
    },
    offsets: (partition) => Promise.resolve(boundsOf(partition)),
    async offsetForTime(partition, timestampMs) {
      for (const line of contents.segmentsOf(partition)) {
        if (line.highestTimestamp < timestampMs) continue
        const hit = (await recordsOf(line)).find(({ timestamp }) => timestamp >= timestampMs)
        if (hit !== undefined) return hit.offset
      }
      return boundsOf(partition).end
    },
    async read(partition, offset, { maxBytes = DEFAULT_READ_BYTES, maxRecords = Number.POSITIVE_INFINITY } = {}) {
      const { start, end } = boundsOf(partition)
      if (offset < start || offset > end) {
        const message = `the archive has offsets ${start} to ${end} of ${partition.topic}/${partition.partition}`
        throw new LogError('OFFSET_OUT_OF_RANGE', message, { details: { ...partition, offset, start, end } })
      }
      const { topic, partition: number } = partition
      const line = contents.segmentsOf(partition).find(({ to }) => offset < to)
      if (line === undefined) return { topic, partition: number, records: [], next: end, end }
      const records: LogRecord[] = []
      let bytes = 0
      for (const record of await recordsOf(line)) {
        if (record.offset < offset) continue
        if (records.length >= maxRecords || (bytes >= maxBytes && records.length > 0)) {
          return { topic, partition: number, records, next: record.offset, end }
        }
        records.push(record)
        bytes += record.value?.length ?? 0
      }
      return { topic, partition: number, records, next: line.to, end }
    },
  }
}

/** Whether a state at an offset lacks it already. */
function isBefore(gap: Gap, offset: number): boolean {
  return typeof gap.loadedAt === 'number' ? gap.loadedAt < offset : gap.to <= offset
}

function snapshotOf(read: ReadFile, { from, fold }: SegmentLine): Snapshot | undefined {
  const { snapshot, state, digestBefore } = fold ?? {}
  if (fold === undefined || snapshot === undefined || state === undefined || digestBefore === undefined)
    return undefined
  return {
    offset: from,
    state,
    digest: deserializeStoreDigest(Buffer.from(digestBefore, 'base64')),
    gaps: fold.gaps.filter((gap) => isBefore(gap, from)),
    async fill(store) {
      const rows = decodeRows(await read(snapshot))
      if (rows.length > 0) await store.write(rows)
    },
  }
}
