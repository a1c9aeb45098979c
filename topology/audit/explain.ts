import type { Folded } from '../task/folder.js'
import { journalsOf, withFold } from './audit.js'
import type { Audit, AuditedJournal, AuditScope } from './audit.js'
import type { FoldWork } from './journal-fold.js'
import type { Gap, JournalPart } from './journal-source.js'
import { namedIn, offsetOf } from './moment.js'
import type { Moment } from './moment.js'
import { producerOf } from './producer.js'
import { progressOver } from './progress.js'
import type { OnProgress } from './replay-journals.js'
import { collectSteps } from './steps.js'
import type { Step, Term } from './steps.js'
import { WatchedRows } from './watched-rows.js'

export interface ExplainRequest extends Pick<AuditScope, 'domains'> {
  readonly subject: string
  readonly at: Moment
  /** Newest steps told. */
  readonly limit: number
  /** Also steps that changed nothing of the state in short (but the newest, which is always told). */
  readonly every: boolean
  readonly onProgress?: OnProgress
}

/** How a subject's state came about. JSON. */
export interface Explanation {
  readonly domain: string
  readonly subject: string
  readonly partition: number
  /** Journal offset (exclusive) that the state stands for. */
  readonly offset: number
  /** All parts that were looked into. */
  readonly folded: FoldWork
  readonly state: Readonly<Record<string, unknown>> | null
  /** Oldest first. */
  readonly steps: readonly Step[]
  /** Steps left out in between, where it was looked: they changed nothing of the state in short. */
  readonly leftOut: number
  /** There may be older steps than those told. */
  readonly hasEarlier: boolean
  readonly terms: readonly Term[]
  readonly gaps: readonly Gap[]
  readonly unreadable: readonly string[]
}

/** Tells, for each domain that knows the subject, the chain of journal entries that led to its state. */
export async function explain(audit: Audit, request: ExplainRequest): Promise<readonly Explanation[]> {
  const journals = namedIn(await journalsOf(audit, { domains: request.domains, keys: [request.subject] }), request.at)
  const ends = await Promise.all(journals.map(({ journal }) => offsetOf(audit.source.reader, journal, request.at)))
  const progress = progressOver(ends, request.onProgress)
  const explained: Explanation[] = []
  for (const [i, audited] of journals.entries()) {
    explained.push(await explainIn(audit, audited, request, ends[i] ?? 0, progress.part()))
  }
  const known = explained.filter(({ state, steps }) => state !== null || steps.length > 0)
  return known.length > 0 ? known : explained
}

/** Backwards, part by part: the last one always, of the others those in which the subject's rows change. */
async function explainIn(
  audit: Audit,
  audited: AuditedJournal,
  request: ExplainRequest,
  to: number,
  onProgress: (offset: number) => void,
): Promise<Explanation> {
  const { source } = audit
  const { limit, every } = request
  const known = (await source.parts?.(audited.journal)) ?? []
  const earlier = known.filter((part) => part.from < to)
  const last = earlier.pop()
  const newestPart = await explainPart(audit, audited, request, { from: last?.from ?? 0, to }, onProgress)
  let { explanation: told, newest, storeKeys } = newestPart
  while (told.steps.length < limit) {
    const part = earlier.pop()
    if (part === undefined) break
    if (!(await part.changes(storeKeys, every || newest === undefined ? 'changed' : 'decisive'))) continue
    const found = await explainPart(audit, audited, request, part, onProgress)
    const before = found.explanation
    newest ??= found.newest
    // What the state followed from before: it may have been other rows.
    storeKeys = found.storeKeys
    told = {
      ...told,
      steps: [...before.steps, ...told.steps],
      terms: [...before.terms, ...told.terms],
      leftOut: told.leftOut + before.leftOut,
      folded: { from: before.folded.from, entries: told.folded.entries + before.folded.entries },
      hasEarlier: before.hasEarlier,
    }
  }
  const hasEarlier = told.hasEarlier || earlier.length > 0 || told.steps.length > limit
  const chain = newest === undefined || newest === told.steps.at(-1) ? told.steps : [...told.steps, newest]
  const steps = await Promise.all(
    chain.slice(Math.max(0, chain.length - limit)).map((step) => withProducer(audit, step)),
  )
  const leftOut = told.leftOut - (chain.length - told.steps.length)
  return { ...told, steps, leftOut, terms: inForce(told.terms, steps), hasEarlier }
}

async function explainPart(
  audit: Audit,
  audited: AuditedJournal,
  { subject, at, limit, every }: ExplainRequest,
  { from, to }: Pick<JournalPart, 'from' | 'to'>,
  onProgress: (offset: number) => void,
): Promise<{
  readonly explanation: Explanation
  readonly newest: Step | undefined
  readonly storeKeys: readonly string[]
}> {
  let onFolded: (folded: Folded) => void = () => undefined
  const observers = {
    onFolded: (folded: Folded) => onFolded(folded),
    // A part of an archive is done at once.
    ...(from === 0 && { onProgress }),
  }
  return withFold(audit, audited, from, observers, async (fold) => {
    await fold.foldTo(from)
    const watched = await WatchedRows.of(fold, subject)
    const collected = collectSteps(fold, audited.journal, watched, { limit, every })
    onFolded = collected.take
    await fold.foldTo(to)
    const { unreadable, offset, partition, processor } = fold
    const { steps, terms, leftOut, hasDropped, newest } = collected
    const explanation: Explanation = {
      domain: processor.name,
      subject,
      partition,
      offset,
      folded: fold.work,
      state: watched.state,
      steps,
      leftOut,
      hasEarlier: hasDropped,
      terms,
      gaps: await fold.gapsAt(at),
      unreadable: unreadable.map(({ message }) => message),
    }
    return { explanation, newest, storeKeys: watched.storeKeys }
  })
}

/** The terms of these steps and the newest one, each once, as it began. */
function inForce(terms: readonly Term[], steps: readonly Step[]): readonly Term[] {
  const first = new Map<number, Term>()
  for (const term of terms) if (!first.has(term.epoch)) first.set(term.epoch, term)
  const epochs = new Set([...steps.map(({ epoch }) => epoch), terms.at(-1)?.epoch])
  return [...first.values()].filter(({ epoch }) => epochs.has(epoch))
}

async function withProducer(audit: Audit, step: Step): Promise<Step> {
  const producer = step.producer ?? (await producerOf(audit.source.reader, step.source))
  return producer === undefined ? step : { ...step, producer }
}
