import type { Clock } from '../../../common/clock.js'
import { sleep } from '../../../common/clock.js'
import type { Connection } from './connection.js'
import { BrokerError } from './protocol/broker-error.js'
import type { ProduceData, Produced } from './protocol/requests.js'
import { produceRequest } from './protocol/requests.js'

const maxRequestBytes = 8 * 1024 * 1024
const unknownError = -1
/** Between two requests of less than `littleBytes`. */
const lingerMs = 2
const littleBytes = 64 * 1024

export interface ProduceQueueOptions {
  readonly clock: Clock
  /** How long a broker may take to answer. */
  readonly timeoutMs: number
}

interface Waiting {
  readonly data: ProduceData
  readonly resolve: (produced: Produced) => void
  readonly reject: (error: unknown) => void
}

/**
 * Sends batches to one node, one request after the other: what comes while one is under way goes with the next, so many
 * partitions share a request. The first goes at once, those soon after it linger. (as Kafka producers' `linger.ms`) Of a
 * partition there must be one batch at a time.
 */
export class ProduceQueue {
  readonly #connection: Connection
  readonly #nodeId: number
  readonly #clock: Clock
  readonly #timeoutMs: number
  readonly #waiting: Waiting[] = []
  #isSending = false

  constructor(connection: Connection, nodeId: number, { clock, timeoutMs }: ProduceQueueOptions) {
    this.#connection = connection
    this.#nodeId = nodeId
    this.#clock = clock
    this.#timeoutMs = timeoutMs
  }

  /** Rejects with what the broker answered for this batch, or with what befell the request. */
  send(data: ProduceData): Promise<Produced> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ data, resolve, reject })
      if (this.#isSending) return
      this.#isSending = true
      setImmediate(() => void this.#run())
    })
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const bytes = await this.#sendSome()
      if (bytes < littleBytes) await sleep(this.#clock, lingerMs)
    }
    this.#isSending = false
  }

  /** How many bytes it has sent. */
  async #sendSome(): Promise<number> {
    let bytes = 0
    let count = 0
    for (const { data } of this.#waiting) {
      if (count > 0 && bytes + data.batch.length > maxRequestBytes) break
      bytes += data.batch.length
      count++
    }
    const sending = this.#waiting.splice(0, count)
    try {
      const request = produceRequest(
        sending.map(({ data }) => data),
        this.#timeoutMs,
      )
      const answers = await this.#connection.send(this.#nodeId, request)
      for (const { data, resolve, reject } of sending) {
        const answer = answers.find(({ topic, partition }) => topic === data.topic && partition === data.partition)
        if (answer?.errorCode === 0) resolve(answer)
        else reject(new BrokerError(answer?.errorCode ?? unknownError))
      }
    } catch (error) {
      for (const { reject } of sending) reject(error)
    }
    return bytes
  }
}
