import { cut } from '../../common/errors.js'
import type { KeyValueStore } from '../../state-stores/key-value-store.js'
import type { TopicPartition } from '../log/log.js'
import { names } from '../names.js'
import { partitionOf } from '../partitioner.js'
import type { Processor } from '../processor.js'
import { AuditError } from './errors.js'
import { JournalFold } from './journal-fold.js'
import type { JournalFoldOptions } from './journal-fold.js'
import type { JournalSource } from './journal-source.js'

/** What every audit works on. It writes to nothing but the stores that `openStore` gives. */
export interface Audit {
  readonly source: JournalSource
  readonly applicationId: string
  readonly processors: readonly Processor[]
  /** Of two sites in one log: the topic of the other site's journal of a domain. */
  readonly peerJournal?: ((domain: string) => string | undefined) | undefined
  /** Ends it, with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** A new empty store, which the audit closes. */
  openStore(): Promise<KeyValueStore>
}

/** A journal partition with the domain that folds it. */
export interface AuditedJournal {
  readonly processor: Processor
  readonly journal: TopicPartition
}

/** Narrows an audit: some domains, the partitions of some keys. Absent: all. */
export interface AuditScope {
  readonly domains?: readonly string[] | undefined
  readonly keys?: readonly string[] | undefined
}

/** The journal partitions there are. Errors: AUDIT_NOTHING_TO_READ, also for a domain that is none. */
export async function journalsOf(audit: Audit, scope: AuditScope = {}): Promise<readonly AuditedJournal[]> {
  const known = audit.processors.map(({ name }) => name)
  const unknown = scope.domains?.find((name) => !known.includes(name))
  if (unknown !== undefined) {
    throw new AuditError('AUDIT_NOTHING_TO_READ', `there is no domain ${cut(unknown)}; there are ${known.join(', ')}`)
  }
  const found: AuditedJournal[] = []
  for (const processor of audit.processors) {
    if (scope.domains !== undefined && !scope.domains.includes(processor.name)) continue
    const topic = names.journal(audit.applicationId, processor.name)
    const partitions = (await audit.source.reader.topic(topic))?.partitions ?? 0
    const journalKey = (key: string): string => processor.subjects?.journalKey?.(key) ?? key
    const wanted = scope.keys && new Set(scope.keys.map((key) => partitionOf(journalKey(key), partitions || 1)))
    for (let partition = 0; partition < partitions; partition++) {
      if (wanted === undefined || wanted.has(partition)) found.push({ processor, journal: { topic, partition } })
    }
  }
  if (found.length > 0) return found
  const sought = audit.processors.map(({ name }) => names.journal(audit.applicationId, name)).join(', ')
  throw new AuditError('AUDIT_NOTHING_TO_READ', `none of the journals is there: ${sought}`)
}

export type FoldObservers = Pick<JournalFoldOptions, 'onFolded' | 'onProgress' | 'rewrite' | 'segmentEntries'>

/**
 * Folds a journal from its nearest snapshot before `from` (default: its start) and hands the fold to `work`, which says how
 * far; the store is closed afterwards.
 */
export async function withFold<Result>(
  audit: Audit,
  { processor, journal }: AuditedJournal,
  from: number,
  observers: FoldObservers,
  work: (fold: JournalFold) => Promise<Result>,
): Promise<Result> {
  const { source, signal } = audit
  const peerJournal = audit.peerJournal?.(processor.name)
  // A journal that begins later may have a snapshot there: without it there is nothing to fold.
  const { start, end } = await source.reader.offsets(journal)
  const snapshot = await source.snapshotBefore?.(journal, Math.max(from, start))
  const parts = await source.parts?.(journal)
  const knownGaps = parts?.flatMap(({ gaps }) => gaps)
  const store = await audit.openStore()
  try {
    return await work(
      await JournalFold.open({
        reader: source.reader,
        processor,
        journal,
        store,
        snapshot,
        knownGaps,
        isAbsent: parts?.length === 0 && start === end,
        peerJournal,
        signal,
        ...observers,
      }),
    )
  } finally {
    await store.close()
  }
}
