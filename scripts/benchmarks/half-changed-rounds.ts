import type { Application } from '../../topology/application.js'
import { untilReadable } from './answers.js'
import { byPartition, halfChanged, HEARTBEAT_TOPIC } from './heartbeats.js'

/** Rounds of one heartbeat of each device, each round readable before the next: every second device turns with each. */
export async function sendHalfChanged(application: Application, ids: readonly string[], rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const timeMs = Date.now()
    const records = byPartition(halfChanged(ids, round % 2 === 0 ? 'NONE' : 'COMPLETE'), timeMs)
    await Promise.all(records.map((some, partition) => application.log.append(HEARTBEAT_TOPIC, partition, some)))
    await untilReadable(application, records, timeMs)
  }
}
