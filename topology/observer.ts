import type { TopicPartition } from './log/log.js'
import type { TaskObserver } from './task/environment.js'
import type { RestoreProgress } from './task/restore.js'
import type { StandbyState } from './task/standby.js'
import type { TaskState } from './task/task-state.js'

/** What happens inside the engine, for metrics and the log; every call is cheap and never throws. */
export interface EngineObserver {
  onTaskState(domain: string, partition: number, state: TaskState, reason: string): void
  onStandbyState(domain: string, partition: number, state: StandbyState, reason: string): void
  onFolded(domain: string, partition: number, entries: number): void
  /** A counter of the processor, or the engine's `repeated`. */
  onCount(domain: string, counter: string, label: string, times: number): void
  onCommit(domain: string, partition: number, operations: number, durationMs: number): void
  onChangelog(domain: string, partition: number, records: number): void
  onRestore(domain: string, partition: number, progress: RestoreProgress): void
  onDeadlineFired(domain: string): void
  onEffectPerformed(domain: string, kind: string, durationMs: number): void
  onSetAside(domain: string, partition: number, reason: string, movedTo: string): void
  /** A store was compared with what is known of it; `busyMs` without pauses. */
  onStoreChecked(domain: string, partition: number, busyMs: number, isIntact: boolean): void
  /** A store that nothing has used for long was deleted. */
  onStoreRemoved(name: string): void
  /** Records of an input topic were accepted, skipped or rejected (with the reason). */
  onDecoded(topic: string, result: string, reason: string, times: number): void
  onDeadLetter(topic: string, code: string): void
  onOutput(topic: string, times: number): void
  /** An input topic was found to have so many partitions, other than before; none: it is missing. */
  onInputTopic(topic: string, partitions: number): void
  /** A source is not read any more; without a reason: it is again. */
  onSourceStopped(source: TopicPartition, reason: string): void
  /** Records were deleted before they were read. */
  onGap(gap: TopicPartition & { readonly from: number; readonly to: number }): void
  /** Something failed and is tried again, or stopped; `where` names it. */
  onError(where: string, error: Error): void
}

/** What a task has to tell, told of it. */
export function taskObserver(observer: EngineObserver, domain: string, partition: number): TaskObserver {
  return {
    onState: (state, reason) => observer.onTaskState(domain, partition, state, reason),
    onOutput: (topic, times) => observer.onOutput(topic, times),
    onFolded: (entries) => observer.onFolded(domain, partition, entries),
    onCount: (counter, label, times) => observer.onCount(domain, counter, label, times),
    onCommit: (operations, durationMs) => observer.onCommit(domain, partition, operations, durationMs),
    onChangelog: (records) => observer.onChangelog(domain, partition, records),
    onRestore: (progress) => observer.onRestore(domain, partition, progress),
    onDeadlineFired: () => observer.onDeadlineFired(domain),
    onEffectPerformed: (kind, durationMs) => observer.onEffectPerformed(domain, kind, durationMs),
    onSetAside: (reason, movedTo) => observer.onSetAside(domain, partition, reason, movedTo),
    onError: (error) => observer.onError(`task ${domain}/${partition}`, error),
  }
}

/** For tests and replays. */
export const silentObserver: EngineObserver = {
  onTaskState: () => undefined,
  onStandbyState: () => undefined,
  onFolded: () => undefined,
  onCount: () => undefined,
  onCommit: () => undefined,
  onChangelog: () => undefined,
  onRestore: () => undefined,
  onDeadlineFired: () => undefined,
  onEffectPerformed: () => undefined,
  onSetAside: () => undefined,
  onStoreChecked: () => undefined,
  onStoreRemoved: () => undefined,
  onDecoded: () => undefined,
  onDeadLetter: () => undefined,
  onOutput: () => undefined,
  onInputTopic: () => undefined,
  onSourceStopped: () => undefined,
  onGap: () => undefined,
  onError: () => undefined,
}
