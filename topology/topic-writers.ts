import type { Clock } from '../common/clock.js'
import type { Appended, Log, NewRecord } from './log/log.js'
import { OrderedQueue } from './ordered-queue.js'

/** Appends to any topic partition, in order for each; a failed append is tried again before later ones. */
export interface TopicWriters {
  append(topic: string, partition: number, record: NewRecord): Promise<unknown>
  stop(): void
}

const MAX_RECORDS = 5000
const MAX_BYTES = 1024 * 1024
const RETRY_DELAY_MS = 200

export function topicWriters(log: Log, clock: Clock, onRetry: (topic: string, error: Error) => void): TopicWriters {
  const queues = new Map<string, OrderedQueue<NewRecord, Appended>>()
  const queueOf = (topic: string, partition: number): OrderedQueue<NewRecord, Appended> => {
    const name = `${topic}/${partition}`
    let queue = queues.get(name)
    if (queue === undefined) {
      queue = new OrderedQueue({
        clock,
        send: (records) => log.append(topic, partition, records),
        maxItems: MAX_RECORDS,
        maxBytes: MAX_BYTES,
        sizeOf: (record) => (record.key?.length ?? 0) + (record.value?.length ?? 0) + 200,
        retryDelayMs: RETRY_DELAY_MS,
        onRetry: (error) => onRetry(topic, error),
      })
      queues.set(name, queue)
    }
    return queue
  }
  return {
    append: (topic, partition, record) => queueOf(topic, partition).push([record]),
    stop: () => {
      for (const queue of queues.values()) queue.stop()
    },
  }
}
