import { deadLetterPartition, deadLetterRecord } from './ingest/dead-letters.js'
import type { DeadLetter } from './ingest/dead-letters.js'
import { httpIngest } from './ingest/http-ingest.js'
import type { HttpIngest } from './ingest/http-ingest.js'
import { domainIntake } from './ingest/domain-intake.js'
import type { Act } from './ingest/sources/register.js'
import { Sources } from './ingest/sources/sources.js'
import type { Advertised, ApplicationOptions, TakenIn } from './application-options.js'
import { Backlog } from './backlog.js'
import { writerOf } from './domain.js'
import type { Domain } from './domain.js'
import { blockCodec } from './journal/block-codec.js'
import type { BlockCodec } from './journal/block-codec.js'
import { partitionsOf } from './log/balanced-placement.js'
import { journalWriter } from './journal/journal-writer.js'
import { Claims } from './cluster/claims.js'
import { GroupDirectory } from './cluster/directory.js'
import type { Directory } from './cluster/directory.js'
import { encodeMemberData } from './cluster/member-data.js'
import { clusterPlacement } from './cluster/placement.js'
import { heldStores, localStores } from './cluster/held-stores.js'
import type { LocalStores } from './cluster/held-stores.js'
import { StandbySet } from './cluster/standby-set.js'
import type { LocalCommandResult } from './cluster/instance-call.js'
import type { LocalStreams } from './cluster/local-streams.js'
import { LogWrites } from './log-writes.js'
import type {
  DeliveredBatch,
  GroupMember,
  Log,
  MemberView,
  Placement,
  ReadingStart,
  TopicPartition,
} from './log/log.js'
import { names } from './names.js'
import { partitionOf } from './partitioner.js'
import { pendingCommands } from './pending-commands.js'
import type { PendingCommands } from './pending-commands.js'
import type { EventPosition, InputRecord, JournalEvent, Processor, Query } from './processor.js'
import { ownCommand } from './own-command.js'
import { answerQuery } from './queries.js'
import { readinessOf } from './readiness.js'
import type {
  CommandOptions,
  CommandResult,
  Demand,
  IngestEvent,
  Position,
  Provenance,
  QueryResult,
  Readiness,
  RestartResult,
  SourceView,
  Streams,
} from './streams.js'
import { OnceWriter } from './task/once-writer.js'
import type { Standby, StandbyEnvironment } from './task/standby.js'
import type { HeldJournal } from './task/staleness.js'
import { rowCaches } from './task/row-cache.js'
import type { Task } from './task/task.js'
import { taskEnvironment } from './task-environment.js'
import type { SharedParts } from './task-environment.js'
import { TaskSet } from './task-set.js'
import { inputTopics, makeMissing, outputTopics, ownTopics } from './topics.js'
import { checkStores } from './store-checks.js'
import { Turns } from './turns.js'
import { topicWriters } from './topic-writers.js'
import type { TopicWriters } from './topic-writers.js'

/** The running topology: one member of the group, with the tasks and inputs assigned to it. */
export class Application implements Streams, LocalStreams {
  readonly #options: ApplicationOptions
  readonly #domains = new Map<string, Domain>()
  readonly #journals = new Map<string, Domain>()
  readonly #writes: LogWrites
  readonly #commands: PendingCommands
  readonly #topicWriters: TopicWriters
  readonly #sources: Sources
  readonly #directory = new GroupDirectory((topic) => this.#journals.get(topic)?.processor.name)
  readonly #outputPartitions = new Map<string, number>()
  readonly #placement: Placement
  readonly #claims: Claims
  readonly #stores: LocalStores
  #describe = (): Buffer => Buffer.alloc(0)
  readonly #backlog = new Backlog()
  readonly #turns: Turns
  readonly #shared: SharedParts
  #member: GroupMember | undefined
  #hasJoined = false
  #hasCaughtUp = false
  #isLeaving = false
  #isStopping = false
  readonly #stopping = new AbortController()
  readonly #ingested: HttpIngest

  constructor(options: ApplicationOptions) {
    this.#writes = new LogWrites(options.clock)
    const log = this.#writes.watched(options.log)
    this.#options = { ...options, log }
    this.#ingested = httpIngest(log)
    const { applicationId, processors, clock, partitions, instance, observer, stateCacheBytes } = options
    this.#placement = clusterPlacement({
      standbyReplicas: options.standbyReplicas ?? 1,
      isJournal: (topic) => this.#journals.has(topic),
    })
    this.#claims = new Claims({
      member: () => this.#member,
      placement: this.#placement,
      describe: () => this.#describe(),
      partitionsOf: () => this.#partitionsOf(),
    })
    this.#turns = new Turns(clock)
    this.#stores = localStores(options, () => this.isCurrent)
    this.#commands = pendingCommands(clock)
    this.#sources = new Sources({
      ...{ log, clock, processors, observer },
      registerTopic: names.sources(applicationId),
      member: () => this.#member,
      environment: {
        partitions,
        journalWriter: (name, partition) => writerOf(this.#domain(name), partition),
        sendDeadLetter: (letter, original) => this.#sendDeadLetter(letter, original),
        onDecoded: (topic, result, reason, times) => observer.onDecoded(topic, result, reason, times),
      },
      signal: this.#stopping.signal,
    })
    this.#topicWriters = topicWriters(log, clock, (topic, error) => observer.onError(`append to ${topic}`, error))
    const onceWriter = new OnceWriter({
      ...{ clock, log, id: names.onceWriter(applicationId, instance) },
      giveWay: () => this.#backlog.giveWay(clock, this.#stopping.signal),
      inTurn: (work) => this.#turns.run(work, 'canWait'),
      lingerMs: options.transactionLingerMs ?? 0,
      onRetry: (error) => observer.onError('outputs', error),
    })
    this.#shared = {
      options: this.#options,
      outputPartitions: this.#outputPartitions,
      stores: this.#stores.provider,
      rowCaches: rowCaches((stateCacheBytes * 3) / 4),
      topicWriters: this.#topicWriters,
      onceWriter,
      backlog: this.#backlog,
      turns: this.#turns,
      commands: this.#commands,
      member: () => this.#member,
      sendDeadLetter: (letter, original) => this.#sendDeadLetter(letter, original),
    }
    for (const processor of processors) {
      const journalTopic = names.journal(applicationId, processor.name)
      const codec = blockCodec(processor.events)
      const writers = Array.from({ length: partitions }, (_, partition) =>
        journalWriter({
          ...{ log, clock, topic: journalTopic, partition, codec },
          source: `http/${instance}`,
          firstTerm: processor,
          onRetry: (error) => observer.onError(`append to ${journalTopic}/${partition}`, error),
        }),
      )
      const tasks = new TaskSet({
        log,
        clock,
        journalTopic,
        environment: (partition, onFailed) => taskEnvironment(this.#shared, domain, partition, onFailed),
        onError: (partition, error) => observer.onError(`task ${processor.name}/${partition}`, error),
        onFenced: () => this.#member?.rejoin(),
        onFatal: options.onFatal,
      })
      const standbys = new StandbySet((partition) => this.#standbyEnvironment(domain, partition))
      const inputs = { log, clock, sources: this.#sources, member: () => this.#member, observer }
      const intake = domainIntake(processor, writers, { ...inputs, signal: this.#stopping.signal })
      const domain: Domain = { processor, journalTopic, codec, writers, tasks, standbys, intake }
      this.#domains.set(processor.name, domain)
      this.#journals.set(journalTopic, domain)
    }
  }

  get processors(): readonly Processor[] {
    return this.#options.processors
  }
  get log(): Log {
    return this.#options.log
  }
  /** The tasks of this instance. */
  get tasks(): readonly Task[] {
    return [...this.#domains.values()].flatMap((domain) => domain.tasks.all)
  }

  /** Copies of tasks that other instances own. */
  get standbys(): readonly Standby[] {
    return [...this.#domains.values()].flatMap((domain) => domain.standbys.all)
  }

  /** The group has heard of this instance within a session, so others do not count it as gone. */
  get isCurrent(): boolean {
    return this.#hasJoined && this.#member?.isCurrent === true
  }

  /** Which instance has which partition. */
  get directory(): Directory {
    return this.#directory
  }

  journal(domain: string): { readonly topic: string; readonly partitions: number } {
    return { topic: this.#domain(domain).journalTopic, partitions: this.#options.partitions }
  }

  /** Codec of a journal topic, for reading it decoded; undefined for other topics. */
  codecOf(topic: string): BlockCodec | undefined {
    return this.#journals.get(topic)?.codec
  }

  /**
   * Creates the topics, joins the group, opens what is assigned. Other instances reach this one under `advertisedUrl`, with
   * the token. Stopped meanwhile, it does not join. Errors: those of log and stores.
   */
  async start({ advertisedUrl: url = '', token = '' }: Advertised = {}, takenIn?: TakenIn): Promise<void> {
    const { log, clock, processors, partitions, createInputTopics, applicationId, observer } = this.#options
    await log.createTopics(ownTopics(processors, this.#options))
    if (createInputTopics) await makeMissing(log, inputTopics(processors, partitions))
    for (const [topic, count] of await makeMissing(log, outputTopics(processors, partitions))) {
      this.#outputPartitions.set(topic, count)
    }
    await this.#sources.open(takenIn)
    await this.#stores.watch(this.#stopping.signal)
    const checked = { clock, turns: this.#turns, backlog: this.#backlog, observer, domains: this.#domains }
    void checkStores(checked, this.#stopping.signal)
    this.#describe = () => {
      return encodeMemberData({ url, token, stores: heldStores(this.tasks, this.standbys, this.#stores.resting()) })
    }
    this.#member = await log.join({
      group: applicationId,
      topics: [...this.#partitionsOf().keys()],
      describe: this.#describe,
      placement: this.#placement,
      listener: {
        onAssigned: (assigned) => this.#assigned(assigned),
        onRevoking: (revoking) => {
          for (const { topic, partition } of revoking) this.#journals.get(topic)?.tasks.closing(partition)
        },
        onRevoked: (revoked) => this.#revoked(revoked),
        onBatch: (batch) => this.#process(batch),
        onPassedOver: (passed) => this.#sources.passedOver(passed),
        onMembers: (members) => this.#rebalanced(members),
        onGap: (gap) => observer.onGap(gap),
        onError: (error) => observer.onError('consumer', error),
      },
    })
    if (this.#isLeaving) await this.#member.leave()
  }

  /**
   * Commits, closes and lets go of all tasks, and leaves the group. From then on others are asked for what was here. Nothing that a
   * task waits for is tried again, so it ends when log or disk are gone; but what came over HTTP is, until `stop`.
   */
  async leave(): Promise<void> {
    this.#isLeaving = true
    this.#stopping.abort()
    this.#directory.leave()
    for (const { tasks } of this.#domains.values()) tasks.drain()
    await this.#member?.leave()
  }

  /** Leaves where that is not done yet, and ends. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#topicWriters.stop()
    for (const { writers } of this.#domains.values()) for (const writer of writers) writer.stop()
    const standbys = [...this.#domains.values()].map((domain) => domain.standbys.close())
    await this.leave()
    await Promise.all(standbys)
    this.#commands.stop()
  }

  async query<Arguments, Result>(
    domain: string,
    query: Query<Arguments, Result>,
    key: string,
    args: Arguments,
    demand: Demand = {},
  ): Promise<QueryResult<Result>> {
    return this.queryPartition(domain, query, partitionOf(key, this.#options.partitions), args, demand)
  }

  async queryPartition<Arguments, Result>(
    domain: string,
    query: Query<Arguments, Result>,
    partition: number,
    args: Arguments,
    demand: Demand = {},
  ): Promise<QueryResult<Result>> {
    return this.queryLocal(domain, query, partition, args, demand, 'active')
  }

  /**
   * Asks this instance alone: as `active` its live task, as `standby` whatever copy it has, however far behind (`stalenessMs`
   * tells) within the demand.
   */
  async queryLocal<Arguments, Result>(
    domain: string,
    query: Query<Arguments, Result>,
    partition: number,
    args: Arguments,
    demand: Demand,
    role: Provenance['role'],
  ): Promise<QueryResult<Result>> {
    const { log, clock } = this.#options
    const { journalTopic, tasks, standbys } = this.#domain(domain)
    const task = tasks.get(partition)
    const standby = role === 'standby' && task?.isRunning !== true ? standbys.get(partition) : undefined
    const copy = this.#isStopping ? 'stopping' : (standby ?? task)
    const isCurrent = (): boolean => this.#member?.isCurrent === true
    const environment = { log, clock, turns: this.#turns, journalTopic, partition, role, isCurrent }
    return answerQuery(environment, copy, query, args, demand)
  }

  async queryAll<Arguments, Result>(
    domain: string,
    query: Query<Arguments, Result>,
    args: Arguments,
    demand: Demand = {},
  ): Promise<readonly QueryResult<Result>[]> {
    const partitions = [...Array(this.#options.partitions).keys()]
    return Promise.all(partitions.map((partition) => this.queryPartition(domain, query, partition, args, demand)))
  }

  async ingest(domain: string, events: readonly IngestEvent[]): Promise<readonly (Position & EventPosition)[]> {
    return this.#ingested(this.#domain(domain), events)
  }

  async command<Answer>(
    domain: string,
    to: { readonly key: string } | { readonly partition: number },
    event: JournalEvent,
    options: CommandOptions,
  ): Promise<CommandResult<Answer>> {
    const partition = 'partition' in to ? to.partition : partitionOf(to.key, this.#options.partitions)
    const result = await this.commandLocal(domain, partition, event, options)
    if (result.ok) return { ...result, answer: result.answer as Answer }
    if (result.reason === 'notOwned') return { ...result, reason: 'unavailable' }
    return { ...result, reason: result.reason === 'moved' ? 'outcomeOpen' : result.reason }
  }

  async commandLocal(
    domain: string,
    partition: number,
    event: JournalEvent,
    options: CommandOptions,
  ): Promise<LocalCommandResult> {
    const { journalTopic, writers, tasks } = this.#domain(domain)
    const writer = writers[partition]
    const isOwner = tasks.get(partition)?.state === 'LIVE' && this.#member?.isCurrent === true
    if (this.#isStopping || writer === undefined || !isOwner) {
      const message = this.#isStopping
        ? 'the service is stopping'
        : `partition ${partition} of ${domain} has no live owner here`
      return { ok: false, reason: 'notOwned', message, retryAfterMs: 1000 }
    }
    return ownCommand({ writer, commands: this.#commands, topic: journalTopic, partition, domain }, event, options)
  }

  sources(): readonly SourceView[] {
    return this.#sources.views
  }

  restartSource(source: TopicPartition, act: Act): Promise<RestartResult> {
    return this.#sources.restart(source, act)
  }

  readiness(): Readiness {
    this.#hasCaughtUp ||= this.#hasJoined && !this.standbys.some(({ state }) => state === 'RESTORING')
    return readinessOf({
      isStopping: this.#isLeaving,
      hasJoined: this.#hasJoined,
      isCurrent: this.#member?.isCurrent === true,
      writeTrouble: this.#writes.trouble,
      tasks: this.tasks,
      standbys: this.standbys,
      hasCaughtUp: this.#hasCaughtUp,
      sourceReasons: this.#sources.reasons(),
    })
  }

  #partitionsOf(): ReadonlyMap<string, number> {
    const { partitions } = this.#options
    return new Map([
      ...this.#sources.topics.map((topic) => [topic, this.#sources.partitionCount(topic)] as const),
      ...[...this.#journals.keys()].map((topic) => [topic, partitions] as const),
    ])
  }

  /** What is not owned any more is closed by now, and what is to be owned is opened after this. */
  #rebalanced(members: readonly MemberView[]): void {
    this.#directory.update(members)
    if (this.#isLeaving) this.#directory.leave()
    const own = members.find(({ isSelf }) => isSelf)
    // Forgotten by the group: the copies are as good as before.
    if (own === undefined || this.#isLeaving) return
    this.#hasJoined = true
    for (const { journalTopic, standbys, tasks } of this.#domains.values()) {
      const active = partitionsOf(journalTopic, own.active)
      standbys.assign(partitionsOf(journalTopic, own.standby), active)
      tasks.reclaim(active)
    }
    this.#standbysMoved()
  }

  #standbysMoved(): void {
    if (!this.standbys.some(({ state }) => state === 'RESTORING')) this.#claims.consider()
  }

  async #assigned(assigned: readonly TopicPartition[]): Promise<ReadingStart[]> {
    const opened = await Promise.allSettled(
      assigned.map(async (partition) => {
        const domain = this.#journals.get(partition.topic)
        if (domain !== undefined) {
          const release = (): Promise<HeldJournal | undefined> => domain.standbys.release(partition.partition)
          return { ...partition, offset: await domain.tasks.open(partition.partition, release) }
        }
        return this.#sources.assigned(partition)
      }),
    )
    const failed = opened.find((result) => result.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    return opened.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  }

  async #revoked(revoked: readonly TopicPartition[]): Promise<void> {
    await Promise.all(
      revoked.map(async ({ topic, partition }) => {
        const domain = this.#journals.get(topic)
        domain?.standbys.inherit(partition, await domain.tasks.close(partition))
        this.#commands.moved(`${topic}/${partition}`)
        await this.#sources.revoked({ topic, partition })
      }),
    )
  }

  async #process(batch: DeliveredBatch): Promise<void> {
    const domain = this.#journals.get(batch.topic)
    return this.#backlog.during(batch, () => (domain === undefined ? this.#sources : domain.tasks).process(batch))
  }

  #standbyEnvironment(domain: Domain, partition: number): StandbyEnvironment {
    const environment = taskEnvironment(this.#shared, domain, partition, () => undefined)
    const { name } = domain.processor
    const { observer } = this.#options
    return {
      ...environment,
      onStandbyState: (state, reason) => {
        observer.onStandbyState(name, partition, state, reason)
        this.#standbysMoved()
      },
    }
  }

  async #sendDeadLetter(letter: DeadLetter, original: InputRecord): Promise<void> {
    const { applicationId, partitions, observer } = this.#options
    observer.onDeadLetter(letter.topic, letter.code)
    const partition = deadLetterPartition(letter, partitions)
    await this.#topicWriters.append(names.deadLetters(applicationId), partition, deadLetterRecord(letter, original))
  }

  #domain(name: string): Domain {
    const domain = this.#domains.get(name)
    if (domain === undefined) throw new Error(`there is no processor ${name}`)
    return domain
  }
}
