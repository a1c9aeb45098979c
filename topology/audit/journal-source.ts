import type { StoreDigest } from '../../state-stores/digest.js'
import type { KeyValueStore } from '../../state-stores/key-value-store.js'
import type { Log, TopicPartition } from '../log/log.js'
import type { FoldState } from '../task/folder.js'

/** The reading half of the log port: an embedded log, Kafka, a running instance's API, or an archive. */
export type JournalReader = Pick<Log, 'topic' | 'offsets' | 'offsetForTime' | 'read'>

/** A point from which a journal can be folded on without what lies before it. */
export interface Snapshot {
  readonly offset: number
  readonly state: FoldState
  readonly digest: StoreDigest
  /** What was missing of the journal before it. */
  readonly gaps: readonly Gap[]
  /** Puts the rows into an empty store. */
  fill(store: KeyValueStore): Promise<void>
}

/** Where audits read journals. Everything besides `reader` only makes them faster. */
export interface JournalSource {
  readonly reader: JournalReader
  /** Fields that were replaced by pseudonyms; some: what it gives is not what was sealed. */
  readonly masked?: readonly string[]
  /** Where the log itself begins, when what lies before it is read from elsewhere. Audits of the log begin there. */
  logStart?(journal: TopicPartition): Promise<number>
  /** The newest snapshot at or before the offset. */
  snapshotBefore?(journal: TopicPartition, offset: number): Promise<Snapshot | undefined>
  /** Parts of the journal, in order, with what is known of each without folding it. */
  parts?(journal: TopicPartition): Promise<readonly JournalPart[]>
}

export interface JournalPart {
  readonly from: number
  /** Exclusive. */
  readonly to: number
  /** Whether one of these rows (store keys) changes in it, or changes so that it matters to a subject's state in short. */
  readonly changes: (rowKeys: readonly string[], kind: 'changed' | 'decisive') => Promise<boolean>
  /** Least and greatest time of an entry in it: its own, or when it was due. */
  readonly leastTime: number
  readonly mostTime: number
  /** What is missing of it, or was loaded in it. */
  readonly gaps: readonly Gap[]
}

/** Records of a journal that are not there: from `from` to `to`, exclusive; 0 and 0: all, what is read has nothing of it. */
export interface Gap extends TopicPartition {
  readonly from: number
  readonly to: number
  /**
   * Of another site's journal, or its mirror: its records were loaded at this record of the own journal, which does not hold them.
   * With `to` 0 how many they were cannot be told from what is read. null: this site has not loaded them.
   */
  readonly loadedAt?: number | null
}

/** The record of the folded journal from which on a state may differ by the gap. */
export function missingFrom({ from, loadedAt }: Gap): number {
  return loadedAt ?? from
}
