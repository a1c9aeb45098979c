import type { Clock } from '../../../../common/clock.js'
import { sleep } from '../../../../common/clock.js'
import { cut, ensureError } from '../../../../common/errors.js'
import { LogError } from '../../errors.js'
import type { Connection } from '../connection.js'
import type { PartitionReader } from '../partition-reader.js'
import { BrokerError } from '../protocol/broker-error.js'
import { decodeBatches } from '../protocol/record-batch.js'
import type { Fetched, FetchPartition } from '../protocol/requests.js'
import { fetchRequest } from '../protocol/requests.js'
import { isRetriable, isStale, pauseMs } from '../retry.js'
import type { TopicDirectory } from '../topic-directory.js'
import type { Watchdog } from '../watchdog.js'
import type { Delivery } from './delivery.js'

/** How long a broker may hold a fetch that finds nothing. */
const idleWaitMs = 100
/** The same while a partition is left out because its handler is busy: it waits as long when the handler is done. */
const busyWaitMs = 10
const refusedPauseMs = 300
/** Behind a fetch that brought less than `littleBytes`: what comes meanwhile is fetched together. */
const lingerMs = 3
const littleBytes = 64 * 1024
const maxRequestBytes = 16 * 1024 * 1024

export interface FetcherContext {
  /** Its own: a fetch that waits holds back all others of its connection. */
  readonly connection: Connection
  readonly directory: TopicDirectory
  readonly reader: PartitionReader
  readonly clock: Clock
  readonly watchdog: Watchdog
  /** Bytes of one partition in one fetch. */
  readonly maxBytes: number
  /** What passes; the work goes on. */
  readonly onError: (error: Error) => void
  /** What no repeat will change. */
  readonly onFatal: (error: Error) => void
}

/** Fetches for all partitions of a member that want more: one request at a time to each of their leaders. */
export class Fetcher {
  readonly #context: FetcherContext
  readonly #deliveries: () => Iterable<Delivery>
  readonly #stopping = new AbortController()
  readonly #busy = new Set<number>()
  readonly #underWay = new Set<Promise<void>>()
  #running: Promise<void> | undefined
  #wanted: (() => void) | undefined

  constructor(context: FetcherContext, deliveries: () => Iterable<Delivery>) {
    this.#context = context
    this.#deliveries = deliveries
  }

  start(): void {
    this.#running = this.#run()
  }

  /** A delivery wants more than before. */
  wake(): void {
    this.#wanted?.()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.wake()
    await this.#running
    await Promise.all(this.#underWay)
  }

  async #run(): Promise<void> {
    const { clock, onError } = this.#context
    for (let failures = 0; !this.#stopping.signal.aborted;) {
      try {
        const wanted = new Promise<void>((resolve) => (this.#wanted = resolve))
        await this.#begin()
        failures = 0
        await Promise.race([...this.#underWay, wanted])
      } catch (error) {
        onError(ensureError(error))
        await sleep(clock, pauseMs(++failures), this.#stopping.signal)
      }
    }
  }

  /** Sends to each leader that is free what is wanted of it. */
  async #begin(): Promise<void> {
    const byLeader = new Map<number, Map<Delivery, number>>()
    let maxWaitMs = idleWaitMs
    for (const delivery of this.#deliveries()) {
      if (delivery.isFull) maxWaitMs = busyWaitMs
      const { wanted } = delivery
      if (wanted === undefined) continue
      const leader = await this.#leader(delivery)
      if (leader === undefined || this.#busy.has(leader)) continue
      const wants = byLeader.get(leader) ?? new Map<Delivery, number>()
      byLeader.set(leader, wants.set(delivery, wanted))
    }
    for (const [leader, wants] of byLeader) {
      this.#busy.add(leader)
      const fetching = this.#fetch(leader, wants, maxWaitMs).finally(() => {
        this.#busy.delete(leader)
        this.#underWay.delete(fetching)
      })
      this.#underWay.add(fetching)
    }
  }

  /** Undefined when it cannot be told now, as for a topic that was deleted, or made anew: others are not held back by that. */
  async #leader(delivery: Delivery): Promise<number | undefined> {
    const { directory, onError } = this.#context
    const { topic } = delivery.partition
    try {
      const leader = await directory.leader(delivery.partition)
      const { id } = await directory.get(topic)
      if (delivery.reads(id)) return leader
      directory.forget(topic)
      throw new LogError('TOPIC_UNKNOWN', `topic ${cut(topic)} was made anew: it is not the one that was read`)
    } catch (error) {
      delivery.rest(refusedPauseMs)
      onError(ensureError(error))
      return undefined
    }
  }

  async #fetch(leader: number, wants: ReadonlyMap<Delivery, number>, maxWaitMs: number): Promise<void> {
    const { connection, clock, directory, watchdog, maxBytes, onError } = this.#context
    const partitions = [...wants].map(([{ partition, topicId }, offset]): FetchPartition => {
      return { ...partition, topicId, offset, maxBytes }
    })
    try {
      const request = fetchRequest(partitions, { maxWaitMs, maxBytes: maxRequestBytes })
      const fetched = await watchdog.guard(`a fetch from broker ${leader}`, connection.send(leader, request))
      for (const [delivery, offset] of wants) {
        const { topic, partition } = delivery.partition
        const found = fetched.find((each) => each.topic === topic && each.partition === partition)
        if (found !== undefined && !delivery.stopped.aborted) await this.#arrived(delivery, offset, found)
      }
      const bytes = fetched.reduce((sum, found) => sum + found.bytes.length, 0)
      // The handlers take what came, so that the next fetch asks for these partitions as well.
      if (bytes === 0 || bytes >= littleBytes) await new Promise((resolve) => setImmediate(resolve))
      else await sleep(clock, lingerMs, this.#stopping.signal)
    } catch (error) {
      for (const { topic } of partitions) directory.forget(topic)
      if (!this.#stopping.signal.aborted) onError(ensureError(error))
      await sleep(clock, refusedPauseMs, this.#stopping.signal)
    }
  }

  async #arrived(delivery: Delivery, offset: number, found: Fetched): Promise<void> {
    const { topic, partition } = delivery.partition
    if (found.errorCode !== 0) return this.#refused(delivery, offset, new BrokerError(found.errorCode))
    const readAt = this.#context.clock.monotonic()
    try {
      const { records, next } = await decodeBatches(found.bytes, offset, found.aborted)
      delivery.arrive(offset, { topic, partition, records, next, end: found.lastStableOffset, readAt })
    } catch (error) {
      delivery.stop()
      const message = `partition ${partition} of topic ${cut(topic)} cannot be read at ${offset}: ${ensureError(error).message}`
      const code = error instanceof LogError ? error.code : 'LOG_DAMAGED'
      this.#context.onFatal(new LogError(code, message, { details: { topic, partition, offset }, cause: error }))
    }
  }

  /** kafkajs would start over at one end of the log without a word. */
  async #refused(delivery: Delivery, offset: number, error: BrokerError): Promise<void> {
    const { directory, reader, onError } = this.#context
    const { topic, partition } = delivery.partition
    delivery.rest(refusedPauseMs)
    if (error.type === 'OFFSET_OUT_OF_RANGE') {
      const { start, end } = await reader.offsets(delivery.partition)
      if (offset < start) {
        delivery.skip(start)
        return
      }
      const message = `partition ${partition} of topic ${cut(topic)} ends at ${end}, before offset ${offset}`
      onError(new LogError('OFFSET_OUT_OF_RANGE', message, { details: { topic, partition, offset, end } }))
    } else if (isStale(error) || isRetriable(error)) {
      directory.forget(topic)
    } else {
      onError(error)
    }
  }
}
