import type { CmHandleCreation, CmHandleUpdate, CmHandleUpgrade } from '../../../schemas/trust-level/journal-events.js'
import { textBytes } from '../../../common/text-bytes.js'
import { partitionOf } from '../../../topology/partitioner.js'

/** What one command at a partition of handles asks for. */
export interface HandlesPart {
  readonly removed: readonly string[]
  readonly created: readonly CmHandleCreation[]
  readonly updated: readonly CmHandleUpdate[]
  readonly upgraded: readonly CmHandleUpgrade[]
}

export const noHandles: HandlesPart = { removed: [], created: [], updated: [], upgraded: [] }

/** Handles in one command: bounds a journal record. */
const HANDLES_A_PART = 200
/** Bytes of text in one command; a journal record has 1 MiB. */
const BYTES_A_PART = 256 * 1024

/** The handles by partition, in parts that keep the order removed, created, updated, upgraded. */
export function handleParts(handles: HandlesPart, partitions: number): ReadonlyMap<number, readonly HandlesPart[]> {
  const steps = [
    ...handles.removed.map((removed) => ({ cmHandle: removed, removed })),
    ...handles.created.map((created) => ({ cmHandle: created.cmHandle, created })),
    ...handles.updated.map((updated) => ({ cmHandle: updated.cmHandle, updated })),
    ...handles.upgraded.map((upgraded) => ({ cmHandle: upgraded.cmHandle, upgraded })),
  ]
  const byPartition = groupByPartition(steps, (step) => step.cmHandle, partitions)
  return new Map(
    [...byPartition].map(([partition, ofPartition]) => [
      partition,
      inParts(ofPartition).map((part) => ({
        removed: part.flatMap((step) => ('removed' in step ? [step.removed] : [])),
        created: part.flatMap((step) => ('created' in step ? [step.created] : [])),
        updated: part.flatMap((step) => ('updated' in step ? [step.updated] : [])),
        upgraded: part.flatMap((step) => ('upgraded' in step ? [step.upgraded] : [])),
      })),
    ]),
  )
}

/** Items by the partition of their key, in order. */
export function groupByPartition<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  partitions: number,
): ReadonlyMap<number, readonly Item[]> {
  const groups = new Map<number, Item[]>()
  for (const item of items) {
    const partition = partitionOf(keyOf(item), partitions)
    const group = groups.get(partition)
    if (group === undefined) groups.set(partition, [item])
    else group.push(item)
  }
  return groups
}

/** Cut where a part has enough items or enough text; at least one item each. */
export function inParts<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  const parts: Item[][] = []
  let part: Item[] = []
  let bytes = 0
  for (const item of items) {
    const size = textBytes(item)
    if (part.length > 0 && (part.length >= HANDLES_A_PART || bytes + size > BYTES_A_PART)) {
      parts.push(part)
      part = []
      bytes = 0
    }
    part.push(item)
    bytes += size
  }
  if (part.length > 0) parts.push(part)
  return parts
}
