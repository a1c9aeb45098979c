import type { TopicSpec } from './log/log.js'
import { names } from './names.js'
import type { Processor } from './processor.js'

export interface TopicSettings {
  readonly applicationId: string
  readonly partitions: number
  readonly journalRetentionMs: number
}

const DAY_MS = 24 * 3_600_000
const OUTPUT_RETENTION_MS = 7 * DAY_MS
const DEAD_LETTER_RETENTION_MS = 30 * DAY_MS

/** The topics that follow from the processors: journals, changelogs, outputs, dead letters. */
export function ownTopics(processors: readonly Processor[], settings: TopicSettings): TopicSpec[] {
  const { applicationId, partitions, journalRetentionMs } = settings
  const kept = (name: string, retentionMs: number): TopicSpec => ({
    name,
    partitions,
    cleanup: 'delete',
    retentionMs,
    retentionBytes: -1,
    timestampType: 'LogAppendTime',
  })
  return [
    ...processors.flatMap((processor): TopicSpec[] => [
      kept(names.journal(applicationId, processor.name), journalRetentionMs),
      { ...kept(names.changelog(applicationId, processor.store), -1), cleanup: 'compact' },
      ...processor.outputs.map((output) => kept(output.topic, output.retentionMs ?? OUTPUT_RETENTION_MS)),
    ]),
    kept(names.deadLetters(applicationId), DEAD_LETTER_RETENTION_MS),
  ]
}

/** The input topics, as we create them where nobody else does (embedded, or `createInputTopics`). */
export function inputTopics(processors: readonly Processor[], partitions: number): TopicSpec[] {
  const topics = new Set(processors.flatMap((processor) => processor.inputs.map((input) => input.topic)))
  return [...topics].map((name) => ({
    name,
    partitions,
    cleanup: 'delete',
    retentionMs: OUTPUT_RETENTION_MS,
    retentionBytes: -1,
    timestampType: 'CreateTime',
  }))
}
