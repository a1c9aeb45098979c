import type { Clock } from '../../../../common/clock.js'
import { sleep } from '../../../../common/clock.js'
import { cut, ensureError } from '../../../../common/errors.js'
import { LogError } from '../../errors.js'
import type {
  GroupListener,
  GroupMember,
  GroupPosition,
  MemberView,
  Placement,
  ReadingStart,
  TopicPartition,
} from '../../log.js'
import { Connection } from '../connection.js'
import type { ConnectionOptions } from '../connection.js'
import type { PartitionReader } from '../partition-reader.js'
import { typeOf } from '../protocol/broker-error.js'
import { unavailable } from '../retry.js'
import type { TopicDirectory } from '../topic-directory.js'
import type { Watchdog } from '../watchdog.js'
import { Delivery } from './delivery.js'
import { Fetcher } from './fetcher.js'
import { Membership } from './membership.js'
import { committedBy, PositionCommits, retryingPositions } from './positions.js'
import type { CommittedPosition } from './positions.js'
import type { Assignment } from './subscription.js'

/** The member does not hold the partition any more, by the group's word. */
const lostTypes = new Set(['ILLEGAL_GENERATION', 'UNKNOWN_MEMBER_ID', 'FENCED_INSTANCE_ID'])
const longestBackoffMs = 5_000

export interface MemberContext {
  readonly group: string
  readonly topics: readonly string[]
  readonly listener: GroupListener
  readonly describe?: () => Buffer
  readonly placement?: Placement
  readonly maxRecords: number
  readonly maxBytes: number
  readonly clock: Clock
  readonly watchdog: Watchdog
  readonly connectionOptions: ConnectionOptions
  /** Shared by all members; for what does not wait. */
  readonly shared: Connection
  readonly directory: TopicDirectory
  readonly reader: PartitionReader
  readonly timeoutMs: number
  readonly sessionTimeoutMs: number
  readonly rebalanceTimeoutMs: number
  readonly onFatal: (error: Error) => void
  /** Errors: LOG_CLOSED. */
  checkOpen(): void
}

/** A member of a group on Kafka: what it holds, and the deliveries of that. */
export class KafkaGroupMember implements GroupMember {
  readonly #context: MemberContext
  readonly #connection: Connection
  readonly #held = new Map<string, Delivery>()
  readonly #fetcher: Fetcher
  readonly #membership: Membership
  readonly #commits = new PositionCommits((positions) => this.#commit(positions))
  #members: readonly MemberView[] = []
  #left: Promise<void> | undefined

  constructor(context: MemberContext) {
    const { directory, reader, clock, watchdog, listener, maxBytes, onFatal } = context
    const onError = (error: Error): void => listener.onError(error)
    this.#context = context
    this.#connection = new Connection(context.connectionOptions)
    this.#fetcher = new Fetcher(
      { connection: this.#connection, directory, reader, clock, watchdog, maxBytes, onError, onFatal },
      () => this.#held.values(),
    )
    this.#membership = new Membership({
      ...context,
      connection: this.#connection,
      onError,
      owned: () => this.assignment,
      change: (assigned) => this.#change(assigned),
    })
  }

  get assignment(): readonly TopicPartition[] {
    return [...this.#held.values()].map(({ partition }) => partition)
  }

  get isCurrent(): boolean {
    return this.#membership.isCurrent
  }

  members(): readonly MemberView[] {
    return this.#members
  }

  rejoin(): void {
    this.#membership.rejoin()
  }

  start(): void {
    this.#fetcher.start()
    this.#membership.start()
  }

  async commit(at: TopicPartition, position: GroupPosition): Promise<void> {
    this.#context.checkOpen()
    if (!this.#held.has(nameOf(at))) throw this.#fenced(at)
    try {
      await this.#commits.commit({ topic: at.topic, partition: at.partition, ...position })
    } catch (error) {
      throw lostTypes.has(typeOf(error)) ? this.#fenced(at, error) : unavailable(error)
    }
  }

  async #commit(positions: readonly CommittedPosition[]): Promise<void> {
    const { group, shared } = this.#context
    const topics = [...new Set(positions.map(({ topic }) => topic))].map((topic) => ({
      topic,
      partitions: positions
        .filter((position) => position.topic === topic)
        .map(({ partition, offset, metadata }) => ({ partition, offset: String(offset), metadata })),
    }))
    await retryingPositions(this.#context, async () => {
      const { memberId, generationId } = this.#membership.joined
      await shared.atCoordinator('group', group, (coordinator) =>
        coordinator.offsetCommit({ groupId: group, memberId, groupGenerationId: generationId, topics }),
      )
    })
  }

  async committed(at: TopicPartition): Promise<GroupPosition | undefined> {
    this.#context.checkOpen()
    const { group, shared } = this.#context
    return committedBy(shared, this.#context, group, at)
  }

  pause(partition: TopicPartition): void {
    this.#held.get(nameOf(partition))?.pause()
  }

  resume(partition: TopicPartition): void {
    this.#held.get(nameOf(partition))?.resume()
  }

  seek(to: ReadingStart): void {
    this.#held.get(nameOf(to))?.seek(to)
  }

  leave(): Promise<void> {
    this.#left ??= this.#leave()
    return this.#left
  }

  async #leave(): Promise<void> {
    await this.#membership.stop()
    await this.#release([...this.#held.values()])
    await this.#membership.leave()
    await this.#fetcher.stop()
    await this.#connection.close()
  }

  /** Lets go of what is not assigned, then takes what is new; whether anything was let go. */
  async #change({ active, members }: Assignment): Promise<boolean> {
    const { memberId } = this.#membership.identity
    const names = new Set(active.map(nameOf))
    const going = [...this.#held].flatMap(([name, delivery]) => (names.has(name) ? [] : [delivery]))
    await this.#release(going)
    this.#members = members.map((member) => ({ ...member, isSelf: member.id === memberId }))
    this.#context.listener.onMembers?.(this.#members)
    this.#take(active.filter((partition) => !this.#held.has(nameOf(partition))))
    return going.length > 0
  }

  async #release(going: readonly Delivery[]): Promise<void> {
    if (going.length === 0) return
    const { listener } = this.#context
    for (const delivery of going) delivery.stop()
    listener.onRevoking?.(going.map(({ partition }) => partition))
    await Promise.all(going.map(({ done }) => done))
    try {
      await listener.onRevoked(going.map(({ partition }) => partition))
    } catch (error) {
      listener.onError(ensureError(error))
    }
    for (const { partition } of going) this.#held.delete(nameOf(partition))
  }

  #take(partitions: readonly TopicPartition[]): void {
    if (partitions.length === 0) return
    const onWanted = (): void => this.#fetcher.wake()
    const deliveries = partitions.map((partition) => new Delivery(partition, { ...this.#context, onWanted }))
    for (const delivery of deliveries) this.#held.set(nameOf(delivery.partition), delivery)
    const announced = this.#announce(deliveries)
    for (const delivery of deliveries) {
      delivery.done = announced.then(async (starts) => {
        const from = starts.get(nameOf(delivery.partition))
        if (from !== undefined) await delivery.run(from)
      })
    }
  }

  /** Where to start each partition; those that were taken away meanwhile are left out. */
  async #announce(deliveries: readonly Delivery[]): Promise<Map<string, ReadingStart>> {
    const { listener, clock, reader } = this.#context
    for (let failures = 1; ; failures++) {
      const live = deliveries.filter(({ stopped }) => !stopped.aborted)
      if (live.length === 0) return new Map()
      try {
        const answers = await listener.onAssigned(live.map(({ partition }) => partition))
        const starts = new Map(answers.map((answer) => [nameOf(answer), answer]))
        const others = live.filter(({ partition }) => !starts.has(nameOf(partition)))
        await Promise.all(
          others.map(async ({ partition }) => {
            const position = await this.committed(partition)
            const offset = position?.offset ?? (await reader.offsets(partition)).start
            starts.set(nameOf(partition), { ...partition, offset })
          }),
        )
        return starts
      } catch (error) {
        listener.onError(ensureError(error))
        const pause = Math.min(longestBackoffMs, 100 * 2 ** (failures - 1))
        await sleep(clock, pause, AbortSignal.any(live.map(({ stopped }) => stopped)))
      }
    }
  }

  #fenced({ topic, partition }: TopicPartition, cause?: unknown): LogError {
    const message = `partition ${partition} of topic ${cut(topic)} is not held by this member any more`
    return new LogError('WRITER_FENCED', message, { details: { topic, partition }, cause })
  }
}

function nameOf({ topic, partition }: TopicPartition): string {
  return `${topic}/${partition}`
}
