import type { TopicPartition } from '../log/log.js'
import { parseSeal } from '../task/seal.js'
import type { Seal } from '../task/seal.js'
import type { JournalReader } from './journal-source.js'

/** A seal with the time at which the log took it, ms. */
export interface StampedSeal extends Seal {
  readonly sealedAt: number
}

/** The seals that are kept of a partition, in the order in which they were made. */
export async function* sealsOf(reader: JournalReader, digests: TopicPartition, from = 0): AsyncGenerator<StampedSeal> {
  if ((await reader.topic(digests.topic)) === undefined) return
  const { start, end } = await reader.offsets(digests)
  for (let offset = Math.max(from, start); offset < end;) {
    const { records, next } = await reader.read(digests, offset)
    for (const record of records) {
      const seal = parseSeal(record)
      if (seal !== undefined) yield { ...seal, sealedAt: record.timestamp }
    }
    if (next <= offset) return
    offset = next
  }
}

/** The newest seal taken by `time`, ms. Looks back in growing steps, since compaction leaves holes. */
export async function newestSealBy(
  reader: JournalReader,
  digests: TopicPartition,
  time: number,
): Promise<StampedSeal | undefined> {
  if ((await reader.topic(digests.topic)) === undefined) return undefined
  const { start } = await reader.offsets(digests)
  const behind = await reader.offsetForTime(digests, time + 1)
  for (let back = 16; ; back *= 16) {
    const from = Math.max(start, behind - back)
    let newest: StampedSeal | undefined
    for await (const seal of sealsOf(reader, digests, from)) {
      if (seal.sealedAt > time) break
      newest = seal
    }
    if (newest !== undefined || from === start) return newest
  }
}
