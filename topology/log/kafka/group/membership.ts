import type { Clock } from '../../../../common/clock.js'
import { sleep } from '../../../../common/clock.js'
import { ensureError } from '../../../../common/errors.js'
import { LogError } from '../../errors.js'
import type { TopicPartition } from '../../log.js'
import type { Connection, JoinedGroup } from '../connection.js'
import { typeOf } from '../protocol/broker-error.js'
import { isRetriable, pauseMs } from '../retry.js'
import type { TopicDirectory } from '../topic-directory.js'
import { assign } from './assign.js'
import { decodeAssignment, decodeSubscription, encodeAssignment, encodeSubscription } from './subscription.js'

const protocolName = 'pulsefold'
/** How soon a member learns that the group rebalances; a handover takes two of them. */
const longestHeartbeatIntervalMs = 500
const nobody = { memberId: '', generationId: -1 }
/** The group has forgotten this member: what it held may be others' by now. */
const forgottenTypes = new Set(['UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION', 'FENCED_INSTANCE_ID'])
const deniedTypes = new Set(['GROUP_AUTHORIZATION_FAILED', 'TOPIC_AUTHORIZATION_FAILED', 'SASL_AUTHENTICATION_FAILED'])

export interface MembershipContext {
  readonly group: string
  readonly topics: readonly string[]
  readonly clock: Clock
  /** The member's own: the answer to a join comes when all members have joined. */
  readonly connection: Connection
  readonly shared: Connection
  readonly directory: TopicDirectory
  readonly sessionTimeoutMs: number
  readonly rebalanceTimeoutMs: number
  readonly owned: () => readonly TopicPartition[]
  /** Resolves when what is gone was let go; whether anything was. */
  readonly change: (assigned: readonly TopicPartition[]) => Promise<boolean>
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
  #changing: Promise<void> = Promise.resolve()
  #running: Promise<void> | undefined
  #rejoin: (() => void) | undefined

  constructor(context: MembershipContext) {
    this.#context = context
  }

  get identity(): { readonly memberId: string; readonly generationId: number } {
    return this.#identity
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
    this.#rejoin?.()
    await this.#leaveGroupOf(this.#identity.generationId < 0 ? this.#identity.memberId : '')
    await this.#running
    await this.#changing
  }

  async leave(): Promise<void> {
    await this.#leaveGroupOf(this.#identity.memberId)
    this.#identity = nobody
  }

  async #run(): Promise<void> {
    for (let failures = 0; !this.#isStopping();) {
      try {
        await this.#join()
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
      this.#identity = nobody
      this.#changeTo([])
      await this.#changing
      return
    }
    if (deniedTypes.has(type)) onFatal(ensureError(error))
    else if (!isRetriable(error) || failures > 1) onError(ensureError(error))
    await sleep(clock, pauseMs(failures), this.#stopping.signal)
  }

  async #join(): Promise<void> {
    const { group, topics, connection, sessionTimeoutMs, rebalanceTimeoutMs, owned } = this.#context
    const coordinator = await connection.coordinator('group', group)
    const subscription = { topics, owned: owned(), generation: this.#identity.generationId }
    const joined = await coordinator.joinGroup({
      groupId: group,
      memberId: this.#identity.memberId,
      sessionTimeout: sessionTimeoutMs,
      rebalanceTimeout: rebalanceTimeoutMs,
      groupProtocols: [{ name: protocolName, metadata: encodeSubscription(subscription) }],
    })
    const { memberId, generationId, leaderId } = joined
    this.#identity = { memberId, generationId: this.#identity.generationId }
    const groupAssignment = leaderId === memberId ? await this.#assign(joined) : []
    const { memberAssignment } = await coordinator.syncGroup({
      groupId: group,
      memberId,
      generationId,
      groupAssignment,
    })
    this.#identity = { memberId, generationId }
    if (!this.#isStopping()) this.#changeTo(decodeAssignment(memberAssignment))
  }

  async #assign({ members }: JoinedGroup): Promise<{ memberId: string; memberAssignment: Buffer }[]> {
    const subscriptions = new Map(members.map((member) => [member.memberId, decodeSubscription(member.memberMetadata)]))
    const topics = new Set([...subscriptions.values()].flatMap((subscription) => subscription.topics))
    const partitionsOf = new Map<string, number>()
    for (const topic of topics) {
      partitionsOf.set(topic, (await this.#context.directory.read(topic))?.leaders.length ?? 0)
    }
    return [...assign(subscriptions, partitionsOf)].map(([memberId, partitions]) => ({
      memberId,
      memberAssignment: encodeAssignment(partitions),
    }))
  }

  /** One change after the other; each that let something go makes the member join again. */
  #changeTo(assigned: readonly TopicPartition[]): void {
    const { change, onError } = this.#context
    this.#changing = this.#changing
      .then(async () => {
        if (await change(assigned)) this.#rejoin?.()
      })
      .catch((error: unknown) => onError(ensureError(error)))
  }

  /** Resolves when it is time to join again. Errors: those of a heartbeat. */
  async #beat(): Promise<void> {
    const { clock, connection, group, sessionTimeoutMs } = this.#context
    const rejoining = new AbortController()
    this.#rejoin = () => rejoining.abort()
    const { memberId, generationId } = this.#identity
    let lastAnswerAt = clock.monotonic()
    for (;;) {
      await sleep(clock, Math.min(longestHeartbeatIntervalMs, sessionTimeoutMs / 3), rejoining.signal)
      if (rejoining.signal.aborted || this.#isStopping()) return
      try {
        const coordinator = await connection.coordinator('group', group)
        await coordinator.heartbeat({ groupId: group, memberId, groupGenerationId: generationId })
        lastAnswerAt = clock.monotonic()
      } catch (error) {
        if (!isRetriable(error)) throw error
        if (clock.monotonic() - lastAnswerAt > sessionTimeoutMs) {
          const message = `group ${group} was not reached for ${sessionTimeoutMs} ms`
          this.#context.onError(new LogError('LOG_UNAVAILABLE', message, { cause: error }))
        }
      }
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
