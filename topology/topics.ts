import type { Log, TopicSpec } from './log/log.js'
import { names } from './names.js'
import type { Processor } from './processor.js'

export interface TopicSettings {
  readonly applicationId: string
  readonly partitions: number
  readonly journalRetentionMs: number
}

const DAY_MS = 24 * 3_600_000
const OUTPUT_RETENTION_MS = 7 * DAY_MS
/** How long a changelog keeps a tombstone at least: Kafka's topics are made so, or checked. */
export const CHANGELOG_DELETE_RETENTION_MS = DAY_MS
const DEAD_LETTER_RETENTION_MS = 30 * DAY_MS

/** The topics that follow from the processors and are theirs alone: journals, changelogs, seals, dead letters, sources. */
export function ownTopics(processors: readonly Processor[], settings: TopicSettings): TopicSpec[] {
  const { applicationId, partitions, journalRetentionMs } = settings
  const kept = (name: string, retentionMs: number): TopicSpec => keptFor(retentionMs, name, partitions)
  return [
    ...processors.flatMap((processor): TopicSpec[] => [
      kept(names.journal(applicationId, processor.name), journalRetentionMs),
      { ...kept(names.changelog(applicationId, processor.store), -1), cleanup: 'compact' },
      { ...kept(names.digests(applicationId, processor.store), -1), cleanup: 'compact' },
    ]),
    kept(names.deadLetters(applicationId), DEAD_LETTER_RETENTION_MS),
    { ...keptFor(-1, names.sources(applicationId), 1), cleanup: 'compact' },
  ]
}

/** The output topics as we make them where they are missing; others may have made them as they like. */
export function outputTopics(processors: readonly Processor[], partitions: number): TopicSpec[] {
  const outputs = processors.flatMap((processor) => processor.outputs)
  return outputs.map(({ topic, retentionMs = OUTPUT_RETENTION_MS }) => keptFor(retentionMs, topic, partitions))
}

function keptFor(retentionMs: number, name: string, partitions: number): TopicSpec {
  return {
    name,
    partitions,
    cleanup: 'delete',
    retentionMs,
    retentionBytes: -1,
    timestampType: 'LogAppendTime',
  }
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

/** Topics that may be others' as well: what is there is taken as it is. Answers their partitions. */
export async function makeMissing(log: Log, specs: readonly TopicSpec[]): Promise<Map<string, number>> {
  const partitions = new Map<string, number>()
  for (const spec of specs) {
    const found = await log.topic(spec.name)
    if (found === undefined) await log.createTopics([spec])
    partitions.set(spec.name, found?.partitions ?? spec.partitions)
  }
  return partitions
}
