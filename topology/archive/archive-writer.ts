import type { Gap } from '../audit/journal-source.js'
import type { LogRecord, TopicDescription, TopicPartition } from '../log/log.js'
import type { Processor } from '../processor.js'
import { appendLine, readChain } from './chain.js'
import type { Chain, ChainEnd } from './chain.js'
import { Contents } from './contents.js'
import { ArchiveError } from './errors.js'
import { encodeRecords, readSealed, writeSealed } from './files.js'
import { mergeKeys, MERGED_SEGMENTS } from './keys.js'
import { ARCHIVE_FORMAT } from './lines.js'
import type { ArchiveLine, FileSeal, SegmentFold, SegmentLine } from './lines.js'

/** What a run of the writer has added. JSON. */
export interface Archived {
  readonly segments: number
  readonly records: number
  readonly bytes: number
  /** Hash of the archive's last line: who keeps it elsewhere will notice when lines are cut off. */
  readonly head: string
  /** Records that the journals do not have any more. */
  readonly gaps: readonly Gap[]
}

/** Adds to an archive, from where it ends on: a line is written when its files are on disk. */
export class ArchiveWriter {
  readonly directory: string
  readonly #contents: Contents
  #end: ChainEnd
  #segments = 0
  #records = 0
  #bytes = 0
  readonly #gaps: Gap[] = []

  private constructor(directory: string, { lines, ...end }: Chain) {
    this.directory = directory
    this.#contents = new Contents(lines)
    this.#end = end
  }

  /** Errors: ARCHIVE_DAMAGED, ARCHIVE_OTHER. */
  static async open(directory: string, applicationId: string, masked: readonly string[]): Promise<ArchiveWriter> {
    const writer = new ArchiveWriter(directory, await readChain(directory))
    const { head } = writer.#contents
    if (head === undefined) {
      await writer.#append({ kind: 'archive', format: ARCHIVE_FORMAT, applicationId, masked })
    } else if (head.applicationId !== applicationId || JSON.stringify(head.masked) !== JSON.stringify(masked)) {
      throw new ArchiveError('ARCHIVE_OTHER', `${directory} is of ${head.applicationId}, or masks other fields`)
    }
    return writer
  }

  get contents(): Contents {
    return this.#contents
  }
  get archived(): Archived {
    const { head } = this.#end
    return { segments: this.#segments, records: this.#records, bytes: this.#bytes, head, gaps: this.#gaps }
  }

  /** Notes the code and the schemas of a domain, unless they are those noted last. */
  async describeCode({ name: domain, store, foldVersion, events, settings }: Processor): Promise<void> {
    const line: ArchiveLine = { kind: 'code', domain, store, foldVersion, events, settings }
    const last = this.#contents.code(domain)
    if (JSON.stringify(last) !== JSON.stringify(line)) await this.#append(line)
  }

  /** Notes a topic. Errors: ARCHIVE_OTHER when the archive has one of the same name and another incarnation. */
  async describeTopic({ name: topic, partitions, incarnation }: TopicDescription): Promise<void> {
    const known = this.#contents.topic(topic)
    if (known === undefined) {
      await this.#append({ kind: 'topic', topic, partitions, incarnation })
    } else if (known.incarnation !== incarnation) {
      throw new ArchiveError('ARCHIVE_OTHER', `the archive is of another topic of the name ${topic}`)
    }
  }

  /** Writes a file of a segment that is about to be added. */
  writeFile({ topic, partition }: TopicPartition, from: number, what: string, content: Buffer): Promise<FileSeal> {
    return writeSealed(this.directory, `${topic}/${partition}/${String(from).padStart(15, '0')}.${what}.gz`, content)
  }

  async addSegment(
    partition: TopicPartition,
    { from, to, records }: SegmentRecords & { readonly from: number },
    fold?: SegmentFold,
  ): Promise<void> {
    const seal = await this.writeFile(partition, from, 'records', encodeRecords(records))
    const before = this.#contents.segmentsOf(partition).at(-1)?.highestTimestamp ?? 0
    const highestTimestamp = records.reduce((highest, { timestamp }) => Math.max(highest, timestamp), before)
    const { topic, partition: number } = partition
    const range = { topic, partition: number, from, to, highestTimestamp }
    const line: SegmentLine = { kind: 'segment', ...range, records: seal, ...(fold && { fold }) }
    await this.#append(line)
    this.#segments++
    this.#records += records.length
    this.#bytes += seal.bytes + (fold?.snapshot?.bytes ?? 0) + (fold?.keys.bytes ?? 0)
  }

  /** Merges the keys of the journal segments that are there, as many as make a whole. */
  async mergeKeys(partition: TopicPartition): Promise<void> {
    for (;;) {
      const mergedTo = this.#contents.mergedKeysOf(partition).at(-1)?.to ?? 0
      const segments = this.#contents.segmentsOf(partition).filter(({ from }) => from >= mergedTo)
      const merging = segments
        .slice(0, MERGED_SEGMENTS)
        .flatMap(({ from, to, fold }) => (fold ? [{ from, to, fold }] : []))
      const [first, last] = [merging[0], merging.at(-1)]
      if (first === undefined || last === undefined || merging.length < MERGED_SEGMENTS) return
      const keys = await Promise.all(merging.map(({ fold }) => readSealed(this.directory, fold.keys)))
      const seal = await this.writeFile(partition, first.from, 'merged-keys', mergeKeys(keys))
      const { topic, partition: number } = partition
      await this.#append({ kind: 'mergedKeys', topic, partition: number, from: first.from, to: last.to, keys: seal })
      this.#bytes += seal.bytes
    }
  }

  addGaps(gaps: readonly Gap[]): void {
    this.#gaps.push(...gaps)
  }

  async #append(line: ArchiveLine): Promise<void> {
    this.#end = await appendLine(this.directory, this.#end, line)
    this.#contents.add(line)
  }
}

/** Records of a partition up to `to` (exclusive). */
export interface SegmentRecords {
  readonly records: readonly LogRecord[]
  readonly to: number
}
