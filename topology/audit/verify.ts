import type { KeyValueStore } from '../../state-stores/key-value-store.js'
import type { TopicPartition } from '../log/log.js'
import { names } from '../names.js'
import type { EventPosition } from '../processor.js'
import { journalsOf, withFold } from './audit.js'
import type { Audit, AuditedJournal, AuditScope } from './audit.js'
import { findFirstChanges } from './first-changes.js'
import type { RowChangeAt } from './first-changes.js'
import { changelogState, digestOfRows, storeState } from './kept-state.js'
import type { KeptState } from './kept-state.js'
import type { Gap } from './journal-source.js'
import type { OnProgress } from './replay-journals.js'
import { rowDifferences } from './row-differences.js'
import type { RowDifference } from './row-differences.js'
import { sealsOf } from './seals.js'
import type { StampedSeal } from './seals.js'

export interface VerifyRequest extends Pick<AuditScope, 'domains'> {
  /** A task's store, where it can be read (of a stopped instance); undefined: it cannot. The audit closes it. */
  readonly openTaskStore?: (name: string) => Promise<KeyValueStore | undefined>
  readonly onProgress?: OnProgress
}

/** Whether a kept state is what its journal gives. */
export interface KeptVerdict {
  readonly name: KeptState['name']
  readonly offset: number
  readonly sealed: string
  /** Of the rows as they stand: another than sealed means that they were changed behind the engine's back. */
  readonly ofRows: string
  readonly ofJournal: string
  readonly isEqual: boolean
  /** The first rows that differ: a is kept, b follows from the journal; and where the journal changed them last. */
  readonly differences: readonly (RowDifference & { readonly lastChange: EventPosition | null })[]
}

/** What was found of one partition. JSON. */
export interface Verification {
  readonly domain: string
  readonly partition: number
  /** `unknown`: nothing is sealed, or what the journal lacks, or was masked in it, leaves it open. */
  readonly verdict: 'equal' | 'different' | 'unknown'
  readonly seals: {
    readonly compared: number
    /** Of other fold versions: this build may fold otherwise, so they are not compared. */
    readonly ofOtherVersions: number
    /** The first seal that the journal does not give: somewhere in `from` to `to` (exclusive) the state began to differ. */
    readonly firstDifference: FirstDifference | null
  }
  readonly kept: readonly KeptVerdict[]
  readonly gaps: readonly Gap[]
  readonly unreadable: readonly string[]
}

export interface FirstDifference {
  readonly from: number
  readonly to: number
  readonly seal: StampedSeal
  readonly ofJournal: string
  /** What the journal changes there, by position. */
  readonly changes: readonly RowChangeAt[]
}

/** Records between two seals that are compared at first; only where one differs all in between are. */
const COARSE_RECORDS = 5000
const MAX_DIFFERENCES = 20

/** Folds every journal anew and compares: each seal, the changelog, and the task's store where it can be read. */
export async function verify(audit: Audit, request: VerifyRequest): Promise<readonly Verification[]> {
  const journals = await journalsOf(audit, request)
  const ends = await Promise.all(journals.map(async ({ journal }) => (await audit.source.reader.offsets(journal)).end))
  const total = ends.reduce((sum, end) => sum + end, 0)
  const verified: Verification[] = []
  let done = 0
  for (const [i, audited] of journals.entries()) {
    const onProgress = (offset: number): void => request.onProgress?.(done + offset, total)
    verified.push(await verifyJournal(audit, audited, request, onProgress))
    done += ends[i] ?? 0
  }
  return verified
}

async function verifyJournal(
  audit: Audit,
  audited: AuditedJournal,
  request: VerifyRequest,
  onProgress: (offset: number) => void,
): Promise<Verification> {
  const { processor, journal } = audited
  const seals = await comparableSeals(audit, audited)
  return withKept(audit, audited, request, async (states) => {
    const kept: KeptVerdict[] = []
    const folded = await withFold(audit, audited, 0, { onProgress }, async (fold) => {
      const checks = [...seals.coarse.map((seal) => seal.offset), ...states.map((state) => state.offset)]
      let lastGood = 0
      let firstBad: StampedSeal | undefined
      for (const offset of [...new Set(checks)].sort((a, b) => a - b)) {
        if (offset < fold.offset) continue
        await fold.foldTo(offset)
        const ofJournal = fold.digest.rows.toHex()
        for (const state of states.filter((one) => one.offset === offset)) {
          kept.push(await judge(state, ofJournal, fold.rows.store, audited))
        }
        const seal = seals.coarse.find((one) => one.offset === offset)
        if (seal === undefined || firstBad !== undefined) continue
        if (seal.rows === ofJournal) lastGood = offset
        else firstBad = seal
      }
      return { gaps: fold.gaps, unreadable: fold.unreadable.map(({ message }) => message), lastGood, firstBad }
    })
    const { gaps, unreadable, lastGood, firstBad } = folded
    const differing = kept.flatMap(({ differences }) => differences)
    const found =
      firstBad === undefined && differing.length === 0
        ? { firstDifference: null, lastChanges: new Map<string, EventPosition>() }
        : await findFirstChanges(audit, audited, {
            seals: seals.all,
            lastGood,
            firstBad,
            rows: differing,
            upTo: Math.max(0, ...kept.map(({ offset }) => offset)),
          })
    const told = kept.map((one) => ({
      ...one,
      differences: one.differences.map((row) => ({
        ...row,
        lastChange: found.lastChanges.get(`${row.table}/${row.key}`) ?? null,
      })),
    }))
    const { ofOtherVersions, coarse } = seals
    const isDifferent = firstBad !== undefined || kept.some(({ isEqual }) => !isEqual)
    const isUnknown = audit.source.isMasked === true || gaps.length > 0 || (coarse.length === 0 && kept.length === 0)
    return {
      domain: processor.name,
      partition: journal.partition,
      verdict: isUnknown ? 'unknown' : isDifferent ? 'different' : 'equal',
      seals: { compared: coarse.length, ofOtherVersions, firstDifference: found.firstDifference },
      kept: told,
      gaps,
      unreadable,
    }
  })
}

async function judge(
  state: KeptState,
  ofJournal: string,
  folded: KeyValueStore,
  { processor }: AuditedJournal,
): Promise<KeptVerdict> {
  const { name, offset, sealed, rows } = state
  const ofRows = await digestOfRows(rows, processor.tables)
  const isEqual = sealed === ofJournal && ofRows === ofJournal
  const differences: KeptVerdict['differences'][number][] = []
  if (!isEqual) {
    for await (const difference of rowDifferences(rows, folded, processor.tables)) {
      differences.push({ ...difference, lastChange: null })
      if (differences.length === MAX_DIFFERENCES) break
    }
  }
  return { name, offset, sealed, ofRows, ofJournal, isEqual, differences }
}

interface Seals {
  readonly all: readonly StampedSeal[]
  /** Some of them, the last one among them. */
  readonly coarse: readonly StampedSeal[]
  readonly ofOtherVersions: number
}

/** Seals that this build can give, by position; of a position sealed twice the later. */
async function comparableSeals(audit: Audit, { processor, journal }: AuditedJournal): Promise<Seals> {
  const { reader } = audit.source
  const { start, end } = await reader.offsets(journal)
  const digests = partitionOfStore(names.digests(audit.applicationId, processor.store), journal)
  const byOffset = new Map<number, StampedSeal>()
  let ofOtherVersions = 0
  for await (const seal of sealsOf(reader, digests)) {
    if (seal.foldVersion !== processor.foldVersion) ofOtherVersions++
    else if (seal.offset >= start && seal.offset <= end) byOffset.set(seal.offset, seal)
  }
  const all = [...byOffset.values()].sort((a, b) => a.offset - b.offset)
  let last = Number.NEGATIVE_INFINITY
  const coarse = all.filter(({ offset }, i) => {
    if (offset < last + COARSE_RECORDS && i < all.length - 1) return false
    last = offset
    return true
  })
  return { all, coarse, ofOtherVersions }
}

async function withKept<Result>(
  audit: Audit,
  { processor, journal }: AuditedJournal,
  { openTaskStore }: VerifyRequest,
  work: (states: readonly KeptState[]) => Promise<Result>,
): Promise<Result> {
  const changelog = partitionOfStore(names.changelog(audit.applicationId, processor.store), journal)
  const opened: KeyValueStore[] = [await audit.openStore()]
  try {
    const taskStore = await openTaskStore?.(names.taskStore(processor.name, journal.partition))
    if (taskStore !== undefined) opened.push(taskStore)
    const states = [
      await changelogState(audit.source.reader, changelog, opened[0] as KeyValueStore),
      taskStore && (await storeState(taskStore)),
    ]
    return await work(
      states.filter((state) => state !== undefined).filter((state) => state.foldVersion === processor.foldVersion),
    )
  } finally {
    for (const store of opened) await store.close()
  }
}

function partitionOfStore(topic: string, { partition }: TopicPartition): TopicPartition {
  return { topic, partition }
}
