import type { Clock } from '../../../../common/clock.js'
import { sleep } from '../../../../common/clock.js'
import { ensureError } from '../../../../common/errors.js'
import { LogError } from '../../errors.js'
import { balancedPlacement } from '../../balanced-placement.js'
import type { Placement, TopicPartition } from '../../log.js'
import type { Connection, JoinedGroup } from '../connection.js'
import { typeOf } from '../protocol/broker-error.js'
import { accessDenied, isDenied, isRetriable, pauseMs } from '../retry.js'
import type { Watchdog } from '../watchdog.js'
import type { TopicDirectory } from '../topic-directory.js'
import { assign } from './assign.js'
import { decodeAssignment, decodeSubscription, encodeAssignment, encodeSubscription } from './subscription.js'
import type { Assignment } from './subscription.js'

const protocolName = 'pulsefold'
/** How soon a member learns that the group rebalances; a handover takes two of them. */
const longestHeartbeatIntervalMs = 500
const nobody = { memberId: '', generationId: -1 }
/** The group has forgotten this member: what it held may be others' by now. */
const forgottenTypes = new Set(['UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION', 'FENCED_INSTANCE_ID'])

export interface MembershipContext {
  readonly group: string
  readonly topics: readonly string[]
  readonly clock: Clock
  /** The member's own: the answer to a join comes when all members have joined. */
  readonly connection: Connection
  readonly shared: Connection
  readonly directory: TopicDirectory
  readonly watchdog: Watchdog
  readonly sessionTimeoutMs: number
  readonly rebalanceTimeoutMs: number
  readonly owned: () => readonly TopicPartition[]
  readonly describe?: () => Buffer
  readonly placement?: Placement
  /** Resolves when what is gone was let go; whether anything was. */
  readonly change: (assigned: Assignment) => Promise<boolean>
  readonly onError: (error: Error) => void
  readonly onFatal: (error: Error) => void
}

/**
 * Keeps a member in its group: joins, assigns when it is the leader, beats, joins again when the group says so. Heartbeats
 * go by a timer of their own, whatever the listener does; joining waits for no handler, since what is held stays held
 * until another assignment says otherwise.
 *
 *   join ─> sync ─> assigned ─> (let go of something: join) ─> beat ─> (group rebalances: join)
 *                                                                 └─> (forgotten: let go of all, join as a new member)
 */
export class Membership {
  readonly #context: MembershipContext
  readonly #stopping = new AbortController()
  #identity = nobody
  /** What the group knows this member by since its last join, whether or not it has got its assignment. */
  #joined = nobody
  #changing: Promise<void> = Promise.resolve()
  #running: Promise<void> | undefined
  #isRejoinAsked = false
  #wake: (() => void) | undefined
  /** Monotonic time from which on the group has last counted this member in. */
  #heardAt = Number.NEGATIVE_INFINITY

  constructor(context: MembershipContext) {
    this.#context = context
  }

  get identity(): { readonly memberId: string; readonly generationId: number } {
    return this.#identity
  }

  /** For commits: those of before the last join the group would take for another member's. */
  get joined(): { readonly memberId: string; readonly generationId: number } {
    return this.#joined
  }

  get isCurrent(): boolean {
    const { clock, sessionTimeoutMs } = this.#context
    return clock.monotonic() - this.#heardAt < sessionTimeoutMs
  }

  rejoin(): void {
    this.#isRejoinAsked = true
    this.#wake?.()
  }

  start(): void {
    // Later than the caller's `await join()`, so that its listener can use the member from the first call on.
    setImmediate(() => {
      if (!this.#isStopping()) this.#running ??= this.#run()
    })
  }

  /** No assignment changes any more; the group still counts this member in. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#wake?.()
    await this.#leaveGroupOf(this.#identity.generationId < 0 ? this.#identity.memberId : '')
    await this.#running
    await this.#changing
  }

  async leave(): Promise<void> {
    await this.#leaveGroupOf(this.#identity.memberId)
    this.#identity = this.#joined = nobody
    this.#heardAt = Number.NEGATIVE_INFINITY
  }

  async #run(): Promise<void> {
    const { watchdog, group } = this.#context
    for (let failures = 0; !this.#isStopping();) {
      try {
        await watchdog.guard(`joining group ${group}`, this.#join())
        failures = 0
        await this.#beat()
      } catch (error) {
        if (this.#isStopping()) return
        await this.#recover(error, ++failures)
      }
    }
  }

  async #recover(error: unknown, failures: number): Promise<void> {
    const { clock, onError, onFatal } = this.#context
    const type = typeOf(error)
    if (type === 'REBALANCE_IN_PROGRESS') return
    if (forgottenTypes.has(type)) {
      this.#identity = this.#joined = nobody
      this.#heardAt = Number.NEGATIVE_INFINITY
      this.#changeTo({ active: [], members: [] })
      await this.#changing
      return
    }
    if (isDenied(error)) onFatal(accessDenied(error))
    else if (!isRetriable(error) || failures > 1) onError(ensureError(error))
    await sleep(clock, pauseMs(failures), this.#stopping.signal)
  }

  async #join(): Promise<void> {
    const { clock, group, topics, connection, sessionTimeoutMs, rebalanceTimeoutMs, owned, describe } = this.#context
    const coordinator = await connection.coordinator('group', group)
    this.#isRejoinAsked = false
    const data = describe?.() ?? Buffer.alloc(0)
    const subscription = { topics, owned: owned(), generation: this.#identity.generationId, data }
    const joining = coordinator.joinGroup({
      groupId: group,
      memberId: this.#identity.memberId,
      sessionTimeout: sessionTimeoutMs,
      rebalanceTimeout: rebalanceTimeoutMs,
      groupProtocols: [{ name: protocolName, metadata: encodeSubscription(subscription) }],
    })
    const joined = await this.#hearing(joining)
    const { memberId, generationId, leaderId } = joined
    this.#identity = { memberId, generationId: this.#identity.generationId }
    this.#joined = { memberId, generationId }
    const groupAssignment = leaderId === memberId ? await this.#assign(joined) : []
    const sentAt = clock.monotonic()
    const { memberAssignment } = await coordinator.syncGroup({
      groupId: group,
      memberId,
      generationId,
      groupAssignment,
    })
    this.#identity = { memberId, generationId }
    this.#heardAt = sentAt
    if (!this.#isStopping()) this.#changeTo(decodeAssignment(memberAssignment))
  }

  async #assign({ members }: JoinedGroup): Promise<{ memberId: string; memberAssignment: Buffer }[]> {
    const subscriptions = new Map(members.map((member) => [member.memberId, decodeSubscription(member.memberMetadata)]))
    const topics = new Set([...subscriptions.values()].flatMap((subscription) => subscription.topics))
    const partitionsOf = new Map<string, number>()
    for (const topic of topics) {
      partitionsOf.set(topic, (await this.#context.directory.read(topic))?.leaders.length ?? 0)
    }
    const shares = assign(subscriptions, partitionsOf, this.#context.placement ?? balancedPlacement)
    const table = [...shares].map(([id, share]) => ({
      ...{ id, ...share },
      data: subscriptions.get(id)?.data ?? Buffer.alloc(0),
    }))
    return table.map(({ id, active }) => ({ memberId: id, memberAssignment: encodeAssignment(active, table) }))
  }

  /** One change after the other; each that let something go makes the member join again. */
  #changeTo(assigned: Assignment): void {
    const { change, onError } = this.#context
    this.#changing = this.#changing
      .then(async () => {
        if (await change(assigned)) this.rejoin()
      })
      .catch((error: unknown) => onError(ensureError(error)))
  }

  /** Resolves when it is time to join again. Errors: those of a heartbeat. */
  async #beat(): Promise<void> {
    const { group, clock, sessionTimeoutMs, watchdog } = this.#context
    const woken = new AbortController()
    this.#wake = () => woken.abort()
    if (this.#isRejoinAsked) return
    for (;;) {
      await sleep(clock, Math.min(longestHeartbeatIntervalMs, sessionTimeoutMs / 3), woken.signal)
      if (woken.signal.aborted || this.#isStopping()) return
      try {
        await watchdog.guard(`a heartbeat to group ${group}`, this.#heartbeat())
      } catch (error) {
        if (!isRetriable(error)) throw error
        if (!this.isCurrent) {
          const message = `group ${group} was not reached for ${sessionTimeoutMs} ms`
          this.#context.onError(new LogError('LOG_UNAVAILABLE', message, { cause: error }))
        }
      }
    }
  }

  async #heartbeat(): Promise<void> {
    const { clock, connection, group } = this.#context
    const { memberId, generationId } = this.#identity
    const coordinator = await connection.coordinator('group', group)
    const sentAt = clock.monotonic()
    await coordinator.heartbeat({ groupId: group, memberId, groupGenerationId: generationId })
    this.#heardAt = sentAt
  }

  /**
   * While others are waited for, the group still answers heartbeats of the old generation: it counts this member in, so no
   * other has its partitions.
   */
  async #hearing<T>(joining: Promise<T>): Promise<T> {
    const { clock, shared, group, sessionTimeoutMs } = this.#context
    const { memberId, generationId } = this.#identity
    const joined = new AbortController()
    const hear = async (): Promise<void> => {
      for (;;) {
        await sleep(clock, sessionTimeoutMs / 3, joined.signal)
        if (joined.signal.aborted) return
        const sentAt = clock.monotonic()
        try {
          const coordinator = await shared.coordinator('group', group)
          await coordinator.heartbeat({ groupId: group, memberId, groupGenerationId: generationId })
        } catch (error) {
          if (typeOf(error) !== 'REBALANCE_IN_PROGRESS') continue
        }
        this.#heardAt = sentAt
      }
    }
    const hearing = generationId < 0 ? Promise.resolve() : hear()
    try {
      return await joining
    } finally {
      joined.abort()
      await hearing
    }
  }

  /** A pending join holds back the member's own connection, and ends by this. */
  async #leaveGroupOf(memberId: string): Promise<void> {
    const { shared, group } = this.#context
    if (memberId === '') return
    try {
      await (await shared.coordinator('group', group)).leaveGroup({ groupId: group, memberId })
    } catch {
      // The session ends by itself.
    }
  }

  #isStopping(): boolean {
    return this.#stopping.signal.aborted
  }
}
