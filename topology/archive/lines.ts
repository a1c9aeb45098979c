import type { AvroRecordSchema } from '../../schemas/avro.js'
import type { Gap } from '../audit/journal-source.js'
import type { TopicPartition } from '../log/log.js'
import type { FoldState } from '../task/folder.js'

/** A file of an archive, as it was written. */
export interface FileSeal {
  /** Below the archive's directory. */
  readonly name: string
  readonly bytes: number
  /** Of the file's bytes, hex. */
  readonly sha256: string
}

/** A topic, with the first line about it. */
export interface TopicLine {
  readonly kind: 'topic'
  readonly topic: string
  readonly partitions: number
  readonly incarnation: string
}

/** What folded the segments that follow. */
export interface CodeLine {
  readonly kind: 'code'
  readonly domain: string
  readonly store: string
  readonly foldVersion: number
  /** Avro records of the journal's events, by type. */
  readonly events: Readonly<Record<string, AvroRecordSchema>>
  /** That folds may read, as configured when it was archived; those in force are in the journal's owner records. */
  readonly settings: unknown
}

/** Consecutive records of a partition. */
export interface SegmentLine extends TopicPartition {
  readonly kind: 'segment'
  readonly from: number
  /** Exclusive. */
  readonly to: number
  /** Highest timestamp of this and all segments before, ms. */
  readonly highestTimestamp: number
  readonly records: FileSeal
  /** Of journals only. */
  readonly fold?: SegmentFold
}

/** What folding a journal segment needs and gives. */
export interface SegmentFold {
  /** Rows at `from`; not of every segment, for a large state would be written again and again. */
  readonly snapshot?: FileSeal
  /** At `from`, and the digest there in base64: where there is a snapshot, which a fold begins with. */
  readonly state?: FoldState
  readonly digestBefore?: string
  /** Digest at `to`, hex. */
  readonly digestAfter: string
  /** Store keys of rows that change in it. */
  readonly keys: FileSeal
  /** Least and greatest time of an entry: its own, or when it was due. */
  readonly leastTime: number
  readonly mostTime: number
  /** What was missing before `from`, and from there to `to`. */
  readonly gaps: readonly Gap[]
}

/**
 * Which rows change in which of some consecutive segments of a journal, by their own keys files: one file to look into instead of
 * those of each.
 */
export interface MergedKeysLine extends TopicPartition {
  readonly kind: 'mergedKeys'
  readonly from: number
  /** Exclusive. */
  readonly to: number
  readonly keys: FileSeal
}

/** Raised when archives are laid out so that a build before would not read them as they are meant. */
export const ARCHIVE_FORMAT = 2

export interface HeadLine {
  readonly kind: 'archive'
  readonly format: number
  readonly applicationId: string
  /** Fields replaced by pseudonyms, as `Event.field.field`; digests are then not those that were sealed. */
  readonly masked: readonly string[]
}

export type ArchiveLine = HeadLine | TopicLine | CodeLine | SegmentLine | MergedKeysLine
