import type { TopicPartition } from '../log.js'
import type { Connection } from './connection.js'
import { BrokerError } from './protocol/broker-error.js'
import { listOffsetsRequest } from './protocol/requests.js'

interface Waiting {
  readonly at: TopicPartition
  readonly timestamp: number
  readonly resolve: (offset: number) => void
  readonly reject: (error: unknown) => void
}

const unknownError = -1

/** Asks one node where partitions begin, end, or have a timestamp: what is asked in one turn of the event loop shares a request. */
export class OffsetQueue {
  readonly #connection: Connection
  readonly #nodeId: number
  #waiting: Waiting[] = []

  constructor(connection: Connection, nodeId: number) {
    this.#connection = connection
    this.#nodeId = nodeId
  }

  /** -1: no record has that timestamp, or a later one. Rejects with what the broker answered, or with what befell the request. */
  ask(at: TopicPartition, timestamp: number): Promise<number> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ at, timestamp, resolve, reject }) === 1) setImmediate(() => this.#send())
    })
  }

  #send(): void {
    const byTimestamp = new Map<number, Waiting[]>()
    for (const one of this.#waiting) {
      byTimestamp.set(one.timestamp, [...(byTimestamp.get(one.timestamp) ?? []), one])
    }
    this.#waiting = []
    for (const [timestamp, waiting] of byTimestamp) void this.#list(timestamp, waiting)
  }

  async #list(timestamp: number, waiting: readonly Waiting[]): Promise<void> {
    try {
      const request = listOffsetsRequest(
        waiting.map(({ at }) => at),
        timestamp,
      )
      const listed = await this.#connection.send(this.#nodeId, request)
      for (const { at, resolve, reject } of waiting) {
        const found = listed.find(({ topic, partition }) => topic === at.topic && partition === at.partition)
        if (found?.errorCode === 0) resolve(found.offset)
        else reject(new BrokerError(found?.errorCode ?? unknownError))
      }
    } catch (error) {
      for (const { reject } of waiting) reject(error)
    }
  }
}
