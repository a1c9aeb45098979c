import type { ApplicationOptions } from './application-options.js'
import type { Backlog } from './backlog.js'
import { writerOf } from './domain.js'
import type { Domain } from './domain.js'
import type { DeadLetter } from './ingest/dead-letters.js'
import { keptOnceWriter } from './kept-once-writer.js'
import type { GroupMember } from './log/log.js'
import { names } from './names.js'
import { taskObserver } from './observer.js'
import type { PendingCommands } from './pending-commands.js'
import type { InputRecord } from './processor.js'
import type { StoreProvider } from '../state-stores/key-value-store.js'
import type { TaskEnvironment } from './task/environment.js'
import type { OnceWriter } from './task/once-writer.js'
import type { RowCaches } from './task/row-cache.js'
import type { TopicWriters } from './topic-writers.js'
import type { Turns } from './turns.js'

/** What all tasks of an instance share. */
export interface SharedParts {
  readonly options: ApplicationOptions
  /** How many partitions an output topic has, where that is not the application's number. */
  readonly outputPartitions: ReadonlyMap<string, number>
  readonly stores: StoreProvider
  readonly rowCaches: RowCaches
  readonly topicWriters: TopicWriters
  readonly onceWriter: OnceWriter
  readonly backlog: Backlog
  readonly turns: Turns
  readonly commands: PendingCommands
  readonly member: () => GroupMember | undefined
  readonly sendDeadLetter: (letter: DeadLetter, original: InputRecord) => Promise<void>
}

/** What one task of a domain is given to work with. */
export function taskEnvironment(
  shared: SharedParts,
  domain: Domain,
  partition: number,
  onFailed: (error: Error) => void,
): TaskEnvironment {
  const { backlog, turns, commands, topicWriters } = shared
  const { applicationId, instance, log, clock, partitions, observer, stateCacheBytes, probe } = shared.options
  const { commitIntervalMs, changelogIntervalMs, journalRetentionMs, processors, site = '' } = shared.options
  const { processor, journalTopic, codec } = domain
  // Domains that keep all in memory anyway leave the cache to the others.
  const caching = processors.filter(({ tables }) => tables.some(({ resident }) => resident !== true))
  const blockCacheBytes = Math.floor(stateCacheBytes / 4 / (partitions * Math.max(1, caching.length)))
  return {
    ...{ processor, partition, partitions, journalTopic, codec, instance, log, clock },
    outputPartitions: (topic) => shared.outputPartitions.get(topic) ?? partitions,
    journalName: names.siteJournal(site, journalTopic),
    changelogTopic: names.changelog(applicationId, processor.store),
    digestsTopic: names.digests(applicationId, processor.store),
    storeName: names.taskStore(processor.name, partition),
    stores: shared.stores,
    rowCaches: shared.rowCaches,
    settings: { commitIntervalMs, changelogIntervalMs, journalRetentionMs, blockCacheBytes },
    journalWriter: (target) => writerOf(domain, target),
    sendOutput: ({ topic, partition: to }, record) => topicWriters.append(topic, to, record),
    onceWriter: shared.onceWriter,
    ...keptOnceWriter(log, applicationId, shared.member, { topic: journalTopic, partition }),
    giveWay: (signal, atMostMs) => backlog.giveWay(clock, signal, atMostMs),
    isBehind: () => backlog.isLarge,
    turns,
    askIntake: (asOf) => domain.intake.ask(partition, asOf),
    sendDeadLetter: shared.sendDeadLetter,
    onAnswer: (answer) => commands.answered(answer),
    onFailed,
    observer: taskObserver(observer, processor.name, partition),
    ...(probe && { probe }),
  }
}
