import type { Folded } from '../task/folder.js'
import { journalsOf, withFold } from './audit.js'
import type { Audit, AuditedJournal, AuditScope } from './audit.js'
import type { Gap, JournalPart } from './journal-source.js'
import { offsetOf } from './moment.js'
import type { Moment } from './moment.js'
import { producerOf } from './producer.js'
import { storeKeysOf } from './rows.js'
import { collectSteps } from './steps.js'
import type { Step, Term } from './steps.js'
import { WatchedRows } from './watched-rows.js'

export interface ExplainRequest extends Pick<AuditScope, 'domains'> {
  readonly subject: string
  readonly at: Moment
  /** Newest steps told. */
  readonly limit: number
}

/** How a subject's state came about. JSON. */
export interface Explanation {
  readonly domain: string
  readonly subject: string
  readonly partition: number
  /** Journal offset (exclusive) that the state stands for. */
  readonly offset: number
  readonly state: Readonly<Record<string, unknown>> | null
  /** Oldest first. */
  readonly steps: readonly Step[]
  /** There may be older steps than those told. */
  readonly hasEarlier: boolean
  readonly terms: readonly Term[]
  readonly gaps: readonly Gap[]
  readonly unreadable: readonly string[]
}

/** Tells, for each domain that knows the subject, the chain of journal entries that led to its state. */
export async function explain(audit: Audit, request: ExplainRequest): Promise<readonly Explanation[]> {
  const journals = await journalsOf(audit, { domains: request.domains, keys: [request.subject] })
  const explained: Explanation[] = []
  for (const audited of journals) explained.push(await explainIn(audit, audited, request))
  const known = explained.filter(({ state, steps }) => state !== null || steps.length > 0)
  return known.length > 0 ? known : explained
}

/** Backwards, part by part: the last one always, of the others those in which the subject's rows change. */
async function explainIn(audit: Audit, audited: AuditedJournal, request: ExplainRequest): Promise<Explanation> {
  const { processor, journal } = audited
  const { source } = audit
  const { subject, limit } = request
  const to = await offsetOf(source.reader, journal, request.at)
  const known = (await source.parts?.(journal)) ?? []
  const earlier = known.filter((part) => part.from < to)
  const last = earlier.pop()
  let told = await explainPart(audit, audited, request, { from: last?.from ?? 0, to })
  const rowKeys = storeKeysOf(processor.tables, subject)
  while (told.steps.length < limit) {
    const part = earlier.pop()
    if (part === undefined) break
    if (!(await part.changes(rowKeys))) continue
    const { steps, terms, hasEarlier } = await explainPart(audit, audited, request, part)
    told = { ...told, steps: [...steps, ...told.steps], terms: [...terms, ...told.terms], hasEarlier }
  }
  const hasEarlier = told.hasEarlier || earlier.length > 0 || told.steps.length > limit
  const steps = await Promise.all(told.steps.slice(-limit).map((step) => withProducer(audit, step)))
  return { ...told, steps, terms: inForce(told.terms, steps), hasEarlier }
}

async function explainPart(
  audit: Audit,
  audited: AuditedJournal,
  { subject, limit }: ExplainRequest,
  { from, to }: Pick<JournalPart, 'from' | 'to'>,
): Promise<Explanation> {
  let onFolded: (folded: Folded) => void = () => undefined
  return withFold(audit, audited, from, { onFolded: (folded) => onFolded(folded) }, async (fold) => {
    await fold.foldTo(from)
    const watched = await WatchedRows.of(fold, subject)
    const collected = collectSteps(fold, audited.journal, watched, limit)
    onFolded = collected.take
    await fold.foldTo(to)
    const { gaps, unreadable, offset, partition, processor } = fold
    return {
      domain: processor.name,
      subject,
      partition,
      offset,
      state: watched.state,
      steps: collected.steps,
      hasEarlier: collected.hasDropped,
      terms: collected.terms,
      gaps,
      unreadable: unreadable.map(({ message }) => message),
    }
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
