import { dayMs, longestMs, mebibyte } from './spec.js'
import type { SettingSpec } from './spec.js'

/** Commits, stores and journals. */
export const engineSettings = {
  commitIntervalMs: {
    type: 'integer',
    unit: 'ms',
    default: 100,
    minimum: 1,
    maximum: 60_000,
    description:
      'Time between two commits of a task. While much of what was read waits to be folded, a commit gives way for up to ten seconds more. Answers do not wait for it.',
  },
  changelogIntervalMs: {
    type: 'integer',
    unit: 'ms',
    default: 1000,
    minimum: 1,
    maximum: 600_000,
    description:
      'Time between two writes of a changelog; it bounds the time of a restore. While much of what was read waits to be folded, they are up to ten seconds later, and standbys so much further behind.',
  },
  stateCacheBytes: {
    type: 'integer',
    unit: 'bytes',
    default: 32 * mebibyte,
    minimum: mebibyte,
    maximum: 1024 * 1024 * mebibyte,
    description: 'Memory for cached state, all stores together.',
  },
  standbyReplicas: {
    type: 'integer',
    default: 1,
    minimum: 0,
    maximum: 10,
    description: 'Copies of each task that other instances keep up to date, to take over or answer at once.',
  },
  stateCleanupDelayMs: {
    type: 'integer',
    unit: 'ms',
    default: 600_000,
    minimum: 1000,
    maximum: longestMs,
    description:
      'Local stores of partitions that are elsewhere by now are deleted after this time (Kafka Streams: `state.cleanup.delay.ms`). Until then one that comes back goes on from its store.',
  },
  journalRetentionMs: {
    type: 'integer',
    unit: 'ms',
    default: 7 * dayMs,
    minimum: 60_000,
    maximum: longestMs,
    description: 'How long journals are kept.',
  },
  maxFutureSkewMs: {
    type: 'integer',
    unit: 'ms',
    default: 300_000,
    minimum: 0,
    maximum: dayMs,
    description: "An event's own time further ahead than this is replaced by that of its arrival, and counted.",
  },
  createInputTopics: {
    type: 'boolean',
    default: false,
    description:
      'Make input topics that are missing on Kafka, with as many partitions as the journals. The embedded log has them always.',
  },
} as const satisfies Readonly<Record<string, SettingSpec>>
