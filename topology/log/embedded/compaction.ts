import type { LogRecord } from '../log.js'
import type { Seal, StoredBatch } from './batch-codec.js'
import { encodeKept, sealOf } from './batch-codec.js'
import type { Partition } from './partition.js'
import { recordsOf } from './stored-records.js'

/** Records of neighbouring batches are gathered up to so many bytes into one. */
const mergedBytes = 262_144

/** Emptied batches are deleted so many at a time. */
const touchedBatches = 1_000

export interface CompactionOptions {
  /** The log's time, ms. */
  readonly now: () => number
  /** A tombstone goes when it is so old. */
  readonly deleteRetentionMs: number
  /** Keys held in memory at a time; more keys mean more passes. */
  readonly compactionKeys: number
  /** Ends the work early, between two writes. */
  readonly stopping: AbortSignal
}

/**
 * Leaves of each key its last record (and all records without key); offsets and timestamps stay. The last batch is not
 * touched, so the end never moves back. Answers how many records are left before it.
 *
 * Each pass reads on from where the last ended until it knows `compactionKeys` keys, then goes over everything before.
 */
export async function compact(partition: Partition, options: CompactionOptions): Promise<number> {
  const last = await partition.batches.before(partition.end)
  if (last === undefined) return 0
  for (let from = Math.max(partition.cleanedTo, partition.start); ;) {
    const newest = new Map<string, number>()
    let to = last.next
    for await (const batch of partition.batches.range(from, last.next)) {
      for (const { key, offset } of recordsOf(batch)) if (key !== null) newest.set(keyText(key), offset)
      if (newest.size < options.compactionKeys) continue
      to = batch.next
      break
    }
    const kept = await rewrite(partition, Math.min(to, last.base), newest, options)
    if (to >= last.next || options.stopping.aborted) return kept
    from = to
  }
}

async function rewrite(
  partition: Partition,
  to: number,
  newest: ReadonlyMap<string, number>,
  { now, deleteRetentionMs, stopping }: CompactionOptions,
): Promise<number> {
  const oldestTombstoneMs = now() - deleteRetentionMs
  const stays = ({ key, value, offset, timestamp }: LogRecord): boolean =>
    key === null ||
    ((newest.get(keyText(key)) ?? offset) <= offset && (value !== null || timestamp >= oldestTombstoneMs))
  let kept = 0
  let merge = new Merge()
  const flush = async (): Promise<void> => {
    if (merge.changes) await partition.replace(merge.bases, merge.result(partition), partition.cleanedTo)
    merge = new Merge()
  }
  for await (const batch of partition.batches.range(partition.start, to)) {
    if (stopping.aborted) return kept
    const records = recordsOf(batch)
    const staying = records.filter(stays)
    kept += staying.length
    const large = merge.bytes + batch.value.length > mergedBytes
    if (large || merge.bases.length >= touchedBatches) await flush()
    if (large && staying.length === records.length) continue
    merge.add(batch, staying, staying.length < records.length)
  }
  await flush()
  await partition.replace([], [], to)
  return kept
}

/** Neighbouring batches on their way to become one. */
class Merge {
  readonly bases: number[] = []
  readonly #left: LogRecord[] = []
  #next = 0
  #seal: Seal | undefined
  #dropped = false
  bytes = 0

  get changes(): boolean {
    return this.#dropped || this.bases.length > 1
  }

  add(batch: StoredBatch, staying: readonly LogRecord[], dropped: boolean): void {
    this.bases.push(batch.base)
    this.#next = batch.next
    this.#seal = sealOf(batch.value)
    this.#dropped ||= dropped
    for (const record of staying) this.#left.push(record)
    if (staying.length > 0) this.bytes += batch.value.length
  }

  result({ batches }: Partition): StoredBatch[] {
    const base = this.bases[0]
    if (base === undefined || this.#seal === undefined) return []
    // One without records, too: so each batch follows where the one before ends, and one that is lost is noticed.
    const maxTimestamp = this.#left.reduce((max, { timestamp }) => Math.max(max, timestamp), -1)
    return [encodeKept(this.#left, batches.keyOf(base), this.#next, { ...this.#seal, maxTimestamp })]
  }
}

function keyText(key: Buffer): string {
  return key.toString('latin1')
}
