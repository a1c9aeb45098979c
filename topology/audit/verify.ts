import type { KeyValueStore } from '../../state-stores/key-value-store.js'
import type { TopicPartition } from '../log/log.js'
import { names } from '../names.js'
import type { EventPosition } from '../processor.js'
import { journalsOf, withFold } from './audit.js'
import type { Audit, AuditedJournal, AuditScope } from './audit.js'
import type { AllCopies } from './copies.js'
import { findFirstChanges } from './first-changes.js'
import type { RowChangeAt } from './first-changes.js'
import { changelogState, storeState } from './kept-state.js'
import type { KeptState } from './kept-state.js'
import { judge, judgeAlone } from './kept-verdict.js'
import type { KeptVerdict } from './kept-verdict.js'
import { missingFrom } from './journal-source.js'
import type { Gap } from './journal-source.js'
import type { OnProgress } from './replay-journals.js'
import { sealsOf } from './seals.js'
import type { StampedSeal } from './seals.js'

export interface VerifyRequest extends Pick<AuditScope, 'domains'> {
  /** A task's store, where it can be read (of a stopped instance); undefined: it cannot. The audit closes it. */
  readonly openTaskStore?: (name: string) => Promise<KeyValueStore | undefined>
  /** What running instances hold, to be compared as well. */
  readonly copies?: AllCopies | undefined
  readonly onProgress?: OnProgress
}

/** What was found of one partition. JSON. */
export interface Verification {
  readonly domain: string
  readonly partition: number
  /** `unknown`: nothing is sealed, or what the journal lacks, or was masked in it, leaves it open: see `notVerified`. */
  readonly verdict: 'equal' | 'different' | 'unknown'
  /** Journal offset at which folding began: 0, or that of a snapshot, which is taken as it was archived. */
  readonly from: number
  /** Newest journal offset (exclusive) whose state was compared; null: none was. */
  readonly upTo: number | null
  /** States at these journal offsets were not compared with anything, and why. */
  readonly notVerified: readonly NotVerified[]
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

/** States from `from` to `to`, both included: journal offsets (exclusive) that a state stands for. */
export interface NotVerified {
  readonly from: number
  readonly to: number
  readonly why: string
}

export interface FirstDifference {
  readonly from: number
  readonly to: number
  readonly seal: StampedSeal
  readonly ofJournal: string
  /** What the journal changes there, by position. */
  readonly changes: readonly RowChangeAt[]
}

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
  return withKept(audit, audited, request, async (all) => {
    const states = all.filter(({ foldVersion }) => foldVersion === processor.foldVersion)
    const others = all.filter(({ foldVersion }) => foldVersion !== processor.foldVersion)
    const notCompared = [
      ...others.map(({ name, foldVersion }) => `${name} is of fold version ${foldVersion}`),
      ...(request.copies?.unread ?? []),
    ]
    const kept: KeptVerdict[] = []
    const begin = (await audit.source.logStart?.(journal)) ?? 0
    const folded = await withFold(audit, audited, begin, { onProgress }, async (fold) => {
      const checks = [...seals.byOffset.keys(), ...states.map((state) => state.offset)]
      let lastGood = 0
      let firstBad: StampedSeal | undefined
      let compared = 0
      let upTo: number | null = null
      for (const offset of [...new Set(checks)].sort((a, b) => a - b)) {
        if (offset < fold.offset) continue
        await fold.foldTo(offset)
        // Behind a gap nothing can be said.
        if (fold.gaps.length > 0) break
        upTo = offset
        const ofJournal = fold.digest.rows.toHex()
        for (const state of states.filter((one) => one.offset === offset)) {
          kept.push(await judge(state, ofJournal, await fold.store(), audited))
        }
        const seal = seals.byOffset.get(offset)
        if (seal === undefined) continue
        compared++
        if (firstBad !== undefined) continue
        if (seal.rows === ofJournal) lastGood = offset
        else firstBad = seal
      }
      const { end } = await audit.source.reader.offsets(journal)
      await fold.foldTo(end)
      const { begunAt: from, gaps, unreadable } = fold
      return {
        from,
        end,
        upTo,
        gaps,
        unreadable: unreadable.map(({ message }) => message),
        lastGood,
        firstBad,
        compared,
      }
    })
    for (const state of states.filter(({ offset }) => kept.every((one) => one.offset !== offset))) {
      kept.push(await judgeAlone(state, audited))
    }
    const { from, upTo, gaps, unreadable, lastGood, firstBad, compared } = folded
    const differing = kept.flatMap(({ differences }) => differences)
    const found =
      firstBad === undefined && differing.length === 0
        ? { firstDifference: null, lastChanges: new Map<string, EventPosition>() }
        : await findFirstChanges(audit, audited, {
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
    const isDifferent = firstBad !== undefined || kept.some(({ isEqual }) => isEqual === false)
    const isMasked = (audit.source.masked ?? []).length > 0
    const isOpen = isMasked || gaps.length > 0 || upTo === null || notCompared.length > 0
    return {
      domain: processor.name,
      partition: journal.partition,
      verdict: isDifferent && !isMasked ? 'different' : isOpen ? 'unknown' : 'equal',
      from,
      upTo,
      notVerified: [
        ...notVerified(folded, isMasked),
        ...notCompared.map((why) => ({ from: 0, to: folded.end, why: `not compared: ${why}` })),
      ],
      seals: { compared, ofOtherVersions: seals.ofOtherVersions, firstDifference: found.firstDifference },
      kept: told,
      gaps,
      unreadable,
    }
  })
}

/** What lies before a snapshot, behind a gap, and behind the newest seal. */
function notVerified(
  { from, upTo, end, gaps }: Pick<Verification, 'from' | 'upTo' | 'gaps'> & { readonly end: number },
  isMasked: boolean,
): readonly NotVerified[] {
  if (isMasked) return [{ from: 0, to: end, why: 'fields are masked, so its digests are not those that were sealed' }]
  const [gap] = gaps
  const isLate = from > 0 && (gap === undefined || gap.loadedAt !== undefined || gap.to > from)
  const before = isLate ? [{ from: 0, to: from - 1, why: 'it lies before the snapshot at which folding began' }] : []
  const last = upTo ?? from
  if (gap?.to === 0 && gap.loadedAt === undefined) return [{ from: 0, to: 0, why: 'nothing of it is in what was read' }]
  if (gap !== undefined) {
    const lost = missingFrom(gap)
    const told = last < lost ? [{ from: last + 1, to: lost, why: 'nothing is sealed of it' }] : []
    return [...before, ...told, { from: lost + 1, to: end, why: whyOf(gap) }]
  }
  return last < end ? [...before, { from: last + 1, to: end, why: 'nothing is sealed of it yet' }] : before
}

function whyOf({ topic, partition, from, to, loadedAt }: Gap): string {
  if (loadedAt === undefined) return `records ${from} to ${to - 1} are missing`
  const which = to === 0 ? 'records' : `records ${from} to ${to - 1}`
  return `${which} of ${topic}/${partition} were loaded at record ${loadedAt}`
}

interface Seals {
  /** Of a position sealed twice the later. */
  readonly byOffset: ReadonlyMap<number, StampedSeal>
  readonly ofOtherVersions: number
}

/** Seals that this build can give. */
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
  return { byOffset, ofOtherVersions }
}

async function withKept<Result>(
  audit: Audit,
  { processor, journal }: AuditedJournal,
  { openTaskStore, copies }: VerifyRequest,
  work: (states: readonly KeptState[]) => Promise<Result>,
): Promise<Result> {
  const changelog = partitionOfStore(names.changelog(audit.applicationId, processor.store), journal)
  const opened: KeyValueStore[] = [await audit.openStore()]
  try {
    const live = copies?.copies.filter((copy) => {
      return copy.domain === processor.name && copy.partition === journal.partition
    })
    const taskStore = await openTaskStore?.(names.taskStore(processor.name, journal.partition))
    if (taskStore !== undefined) opened.push(taskStore)
    const states = [
      await changelogState(audit.source.reader, changelog, opened[0] as KeyValueStore),
      taskStore && (await storeState(taskStore)),
      ...(live ?? []).map((copy): KeptState => ({ ...copy, name: `${copy.role} at ${copy.instance}` })),
    ]
    return await work(states.filter((state) => state !== undefined))
  } finally {
    for (const store of opened) await store.close()
  }
}

function partitionOfStore(topic: string, { partition }: TopicPartition): TopicPartition {
  return { topic, partition }
}
