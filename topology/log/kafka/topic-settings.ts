import { cut } from '../../../common/errors.js'
import { LogError } from '../errors.js'
import type { TopicSpec } from '../log.js'

/** What a batch may measure in topics of ours: an append of several records should fit into one. */
export const ownMaxMessageBytes = 4 * 1024 * 1024
/** How long compacted topics of ours keep a tombstone at least; a store that missed more is rebuilt. */
const tombstonesKeptMs = 24 * 3_600_000
const forEver = '9223372036854775807'

/** The settings of a topic of ours as Kafka names them. */
export function settingsOf(spec: TopicSpec): Readonly<Record<string, string>> {
  return {
    'cleanup.policy': spec.cleanup,
    'retention.ms': String(spec.retentionMs),
    'retention.bytes': String(spec.retentionBytes),
    'message.timestamp.type': spec.timestampType,
    'max.message.bytes': String(ownMaxMessageBytes),
    ...(spec.cleanup === 'compact' && { 'delete.retention.ms': String(tombstonesKeptMs) }),
    // A producer's stamp of ten years ahead is data; brokers from 3.6 on refuse it by default.
    ...(spec.timestampType === 'CreateTime' && { 'message.timestamp.after.max.ms': forEver }),
  }
}

type Found = ReadonlyMap<string, string>

/**
 * What must hold of a topic that is there already. Longer retention is the operator's choice, as is a larger bound of
 * messages; the bound of a topic that others produce to as well may be any.
 */
const rules: readonly (readonly [setting: string, isRight: (expected: string, found: string) => boolean])[] = [
  ['cleanup.policy', (expected, found) => expected === found],
  ['message.timestamp.type', (expected, found) => expected === found],
  ['retention.ms', isAtLeast],
  ['retention.bytes', isAtLeast],
  ['delete.retention.ms', (expected, found) => expected === '' || Number(found) >= Number(expected)],
  ['max.message.bytes', (expected, found) => Number(found) >= Math.min(Number(expected), 1024 * 1024)],
]

/** Errors: TOPIC_MISMATCH, naming what was expected and what was found. */
export function checkTopic(spec: TopicSpec, partitions: number, found: Found): void {
  const expected = settingsOf(spec)
  const wrong: (readonly [what: string, expected: string, found: string])[] = []
  if (partitions !== spec.partitions) wrong.push(['partitions', String(spec.partitions), String(partitions)])
  for (const [setting, isRight] of rules) {
    const [wanted, is] = [expected[setting] ?? '', found.get(setting) ?? '']
    if (!isRight(wanted, is)) wrong.push([setting, wanted, is])
  }
  if (wrong.length === 0) return
  const faults = wrong.map(([what, wanted, is]) => `${what}: expected ${wanted}, found ${is}`).join('; ')
  throw new LogError('TOPIC_MISMATCH', `topic ${cut(spec.name)} has other settings. ${faults}`, {
    details: { topic: spec.name, ...Object.fromEntries(wrong.map(([what, , is]) => [what, is])) },
  })
}

/** Of bounds where -1 is none. */
function isAtLeast(expected: string, found: string): boolean {
  return Number(found) === -1 || (Number(expected) !== -1 && Number(found) >= Number(expected))
}
