import { sleep } from '../../../common/clock.js'
import type { Clock } from '../../../common/clock.js'
import { ensureError } from '../../../common/errors.js'
import type { TakenIn } from '../../application-options.js'
import { partitionName } from '../../log/balanced-placement.js'
import { LogError } from '../../log/errors.js'
import type {
  DeliveredBatch,
  GroupMember,
  Log,
  LogRecord,
  ReadingStart,
  TopicDescription,
  TopicPartition,
} from '../../log/log.js'
import type { EngineObserver } from '../../observer.js'
import type { Input, Processor } from '../../processor.js'
import { ingest } from '../ingest.js'
import type { IngestEnvironment } from '../ingest.js'
import { AutoCommit } from './auto-commit.js'
import { judgeSource, nextIncarnation, topicIdOf } from './judge-source.js'
import type { Judgement } from './judge-source.js'
import { SourceRegister } from './register.js'
import type { Act } from './register.js'
import { positionBehind, takenOf } from './taken.js'

export interface SourcesOptions {
  readonly log: Log
  readonly clock: Clock
  readonly processors: readonly Processor[]
  /** Topic of the register. */
  readonly registerTopic: string
  readonly member: () => GroupMember | undefined
  readonly environment: IngestEnvironment
  readonly observer: EngineObserver
  /** Ends the watch. */
  readonly signal: AbortSignal
}

/** A source partition of this instance, for operators. */
export interface SourceView extends TopicPartition {
  readonly incarnation: string
  /** Offset to be read next. */
  readonly position: number
  /** Why it is not read; empty: it is. */
  readonly stopped: string
}

interface Source {
  readonly at: TopicPartition
  incarnation: string
  position: number
  stopped: string
  /** Why the records at hand cannot be taken now, and are tried again; empty: they can. */
  trouble: string
  /** Where it ended when it was judged: up to there it is to be read before the application is ready. */
  target: number
}

interface Topic {
  readonly processor: Processor
  readonly input: Input
  /** Null: it was not looked at yet; undefined: it is missing. */
  description: TopicDescription | null | undefined
}

interface Judged {
  readonly judgement: Judgement
  readonly start: number
  readonly end: number
}

/** How soon a topic that comes, goes, grows or is made anew is seen. */
const WATCH_MS = 5000

/** What became of an operator's act on a source. */
export type RestartResult =
  | { readonly ok: true; readonly incarnation: string; readonly from: number }
  | { readonly ok: false; readonly reason: 'unknown' | 'notStopped' }

/**
 * The input topics and those of their partitions that this instance reads: each goes on where the group left it, unless it
 * is no longer the same source. Then it rests, and says why, until an operator starts a new incarnation of it.
 */
export class Sources {
  readonly #options: SourcesOptions
  readonly #topics: ReadonlyMap<string, Topic>
  readonly #register: SourceRegister
  readonly #held = new Map<string, Source>()
  readonly #commits: AutoCommit
  #takenIn: TakenIn = new Map()

  constructor(options: SourcesOptions) {
    this.#options = options
    this.#register = new SourceRegister(options.log, options.registerTopic)
    const { clock, member, observer, signal } = options
    const onError = (error: Error): void => observer.onError('input positions', error)
    this.#commits = new AutoCommit({ clock, member, onError, signal })
    this.#topics = new Map(
      options.processors.flatMap((processor) =>
        processor.inputs.map((input): [string, Topic] => [input.topic, { processor, input, description: null }]),
      ),
    )
  }

  get topics(): readonly string[] {
    return [...this.#topics.keys()]
  }

  /** Those that this instance reads. */
  get views(): readonly SourceView[] {
    return [...this.#held.values()].map(({ at, incarnation, position, stopped }) => {
      return { ...at, incarnation, position, stopped }
    })
  }

  /**
   * Looks at all topics, then again and again. Where another group stands further on, by `takenIn`, all before is in a journal
   * that was loaded. Errors: those of the log.
   */
  async open(takenIn: TakenIn = new Map()): Promise<void> {
    const { log, observer } = this.#options
    this.#takenIn = takenIn
    for (const [name, topic] of this.#topics) {
      topic.description = await log.topic(name)
      if (topic.description === undefined) observer.onInputTopic(name, 0)
    }
    void this.#watch()
  }

  /** 0 as long as the topic is missing. */
  partitionCount(topic: string): number {
    return this.#topics.get(topic)?.description?.partitions ?? 0
  }

  /** Up to where a partition is taken in that this instance reads; undefined: another does. */
  takenIn(at: TopicPartition): number | undefined {
    const source = this.#held.get(partitionName(at))
    return source?.stopped === '' ? source.position : undefined
  }

  /** Errors: TOPIC_UNKNOWN, as long as the topic is missing. */
  partitionsOf(topic: string): readonly TopicPartition[] {
    const partitions = this.#topics.get(topic)?.description?.partitions
    if (partitions === undefined) throw new LogError('TOPIC_UNKNOWN', `input topic ${topic} is missing`)
    return Array.from({ length: partitions }, (_, partition) => ({ topic, partition }))
  }

  /** Where to begin. Errors: those of the log. */
  async assigned(at: TopicPartition): Promise<ReadingStart> {
    const { judgement, start, end } = await this.#judge(at)
    const source: Source = { at, incarnation: '', position: start, stopped: '', trouble: '', target: end }
    if (judgement.kind === 'stop') {
      this.#held.set(partitionName(at), source)
      this.#stop(source, judgement.reason)
      return { ...at, offset: start }
    }
    const { incarnation, from } = judgement
    if (this.#register.get(at) === undefined) await this.#register.put(at, { incarnation })
    source.incarnation = incarnation
    source.position = Math.max(from, start)
    this.#held.set(partitionName(at), source)
    return startOf(at, judgement)
  }

  /** Another instance goes on where this one stands. */
  async revoked(at: TopicPartition): Promise<void> {
    await this.#commits.flush(at)
    this.#held.delete(partitionName(at))
  }

  async process(batch: DeliveredBatch): Promise<void> {
    const { environment } = this.#options
    const topic = this.#topics.get(batch.topic)
    const source = this.#held.get(partitionName(batch))
    if (topic === undefined || source === undefined) return
    const { incarnation } = source
    try {
      await ingest(environment, { ...topic, incarnation }, batch)
    } catch (thrown) {
      source.trouble = ensureError(thrown).message
      throw thrown
    }
    source.trouble = ''
    source.position = batch.next
    this.#commits.put(source.at, positionBehind(batch.records.at(-1) as LogRecord, batch.next, incarnation))
  }

  /** No record is left before `next`. */
  passedOver({ next, ...at }: TopicPartition & { readonly next: number }): void {
    const source = this.#held.get(partitionName(at))
    if (source?.stopped === '') source.position = next
  }

  /** Why inputs are not read, or not far enough yet. */
  reasons(): string[] {
    const missing = [...this.#topics].filter(([, { description }]) => description === undefined)
    return [
      ...missing.map(([name]) => `input topic ${name} is missing: create it, or set createInputTopics`),
      ...[...this.#held].flatMap(([name, { stopped, trouble, position, target }]) => {
        if (stopped !== '') return [`input ${name} is not read: ${stopped}`]
        if (trouble !== '') return [`input ${name} waits: ${trouble}`]
        if (position >= target) return []
        return [`input ${name} is not yet read up to offset ${target}, where it ended at the start`]
      }),
    ]
  }

  /**
   * An operator's act: all that a stopped source holds from its log start on is new. Whoever owns the partition goes on within
   * seconds. Errors: those of the log.
   */
  async restart(at: TopicPartition, act: Act): Promise<RestartResult> {
    const { log } = this.#options
    const description = await log.topic(at.topic)
    const isInput = description !== undefined && this.#topics.has(at.topic)
    if (!isInput || at.partition >= description.partitions) return { ok: false, reason: 'unknown' }
    if ((await this.#judge(at)).judgement.kind === 'go') return { ok: false, reason: 'notStopped' }
    const incarnation = nextIncarnation(description.incarnation, this.#register.get(at)?.incarnation)
    await this.#register.put(at, { incarnation, ...act })
    const source = this.#held.get(partitionName(at))
    if (source !== undefined) await this.#tryAgain(source)
    return { ok: true, incarnation, from: (await log.offsets(at)).start }
  }

  async #judge(at: TopicPartition): Promise<Judged> {
    const { log, member } = this.#options
    await this.#register.refresh()
    const [description, { start, end }, own] = await Promise.all([
      log.topic(at.topic),
      log.offsets(at),
      member()?.committed(at),
    ])
    const other = this.#takenIn.get(partitionName(at))
    const position = other !== undefined && other.offset > (own?.offset ?? -1) ? other : own
    // Brokers may not know a topic for a moment.
    if (description === undefined) throw new LogError('TOPIC_UNKNOWN', `no topic ${at.topic}`)
    const taken = position && takenOf(position)
    const judgement = judgeSource({
      ...{ topicId: description.incarnation, registered: this.#register.get(at)?.incarnation },
      ...{ position, start, end },
      lastTaken:
        taken && taken.offset >= start && taken.offset < end ? await this.#recordAt(at, taken.offset) : undefined,
    })
    return { judgement, start, end }
  }

  async #recordAt(at: TopicPartition, offset: number): Promise<LogRecord | undefined> {
    const { records } = await this.#options.log.read(at, offset, { maxRecords: 1 })
    return records[0]?.offset === offset ? records[0] : undefined
  }

  #stop(source: Source, reason: string): void {
    const { member, observer } = this.#options
    source.stopped = reason
    member()?.pause(source.at)
    observer.onSourceStopped(source.at, reason)
  }

  async #tryAgain(source: Source): Promise<void> {
    const { member, observer } = this.#options
    const { judgement, end } = await this.#judge(source.at)
    if (judgement.kind === 'stop' || source.stopped === '') return
    source.incarnation = judgement.incarnation
    source.position = judgement.from
    source.target = end
    source.stopped = ''
    source.trouble = ''
    member()?.seek(startOf(source.at, judgement))
    member()?.resume(source.at)
    observer.onSourceStopped(source.at, '')
  }

  async #watch(): Promise<void> {
    const { clock, signal, observer } = this.#options
    for (;;) {
      await sleep(clock, WATCH_MS, signal)
      if (signal.aborted) return
      try {
        for (const [name, topic] of this.#topics) await this.#look(name, topic)
        for (const source of this.#held.values()) if (source.stopped !== '') await this.#tryAgain(source)
      } catch (thrown) {
        observer.onError('inputs', ensureError(thrown))
      }
    }
  }

  async #look(name: string, topic: Topic): Promise<void> {
    const { log, member, observer } = this.#options
    const before = topic.description?.partitions
    const now = await log.topic(name)
    topic.description = now
    if (before !== now?.partitions) {
      observer.onInputTopic(name, now?.partitions ?? 0)
      member()?.rejoin()
    }
    for (const source of this.#held.values()) {
      if (source.at.topic !== name || source.stopped !== '' || now === undefined) continue
      if (topicIdOf(source.incarnation) !== now.incarnation) this.#stop(source, 'the topic was made anew')
    }
  }
}

/** Read is the topic that was judged, and no later one of its name. */
function startOf(at: TopicPartition, { from, incarnation }: Judgement & { readonly kind: 'go' }): ReadingStart {
  return { ...at, offset: from, incarnation: topicIdOf(incarnation) }
}
