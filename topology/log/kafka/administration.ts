import { Kafka, logLevel } from 'kafkajs'
import { ensureError } from '../../../common/errors.js'
import type { KafkaLogOptions } from './kafka-log.js'
import { accessDenied, isDenied, unavailable } from './retry.js'

/** What operators' commands do on a cluster besides reading and writing. Errors: LOG_UNAVAILABLE, ACCESS_DENIED. */
export interface KafkaAdministration {
  /** Client ids of the group's members, and the hosts they are on. */
  readonly members: (group: string) => Promise<readonly string[]>
  /** Its positions go with it; nothing when there is none. */
  readonly deleteGroup: (group: string) => Promise<void>
  readonly deleteTopics: (topics: readonly string[]) => Promise<void>
}

export type ClusterAddress = Pick<KafkaLogOptions, 'brokers' | 'clientId' | 'ssl' | 'sasl'>

/** Lends the administration of a cluster to `work`. */
export async function administer<Result>(
  { brokers, ssl, sasl, clientId }: ClusterAddress,
  work: (administration: KafkaAdministration) => Promise<Result>,
): Promise<Result> {
  const admin = new Kafka({
    ...{ brokers: [...brokers], clientId, logLevel: logLevel.NOTHING },
    ...(ssl !== undefined && { ssl }),
    ...(sasl !== undefined && { sasl }),
  }).admin()
  try {
    await admin.connect()
    return await work({
      async members(group) {
        const { groups } = await admin.describeGroups([group])
        return groups.flatMap(({ members }) => members.map(({ clientId, clientHost }) => `${clientId} (${clientHost})`))
      },
      async deleteGroup(group) {
        const { groups } = await admin.listGroups()
        if (groups.some(({ groupId }) => groupId === group)) await admin.deleteGroups([group])
      },
      deleteTopics: (topics) => admin.deleteTopics({ topics: [...topics] }),
    })
  } catch (error) {
    if (isDenied(error)) throw accessDenied(error)
    throw ensureError(error).name.startsWith('KafkaJS') ? unavailable(error) : error
  } finally {
    await admin.disconnect()
  }
}
