import { partitionOf } from '../partitioner.js'
import type { JournalEvent, SourcePosition } from '../processor.js'

/** What a fold of the history sent on. */
export interface Send {
  readonly key: string | null
  readonly event: JournalEvent
  readonly source: SourcePosition
}

/** Sends of one partition kept: more were never under way at once. */
const MAX_KEPT = 10_000

/**
 * The last that the folds of a partition have sent on. A site that ended may not have brought them into its journals: then the
 * site that takes over sends them, under the same source position.
 */
export class PendingSends {
  #kept: Send[] = []

  add(send: Send): void {
    this.#kept.push(send)
    if (this.#kept.length > 2 * MAX_KEPT) this.#kept = this.#kept.slice(-MAX_KEPT)
  }

  /** Those that the journals do not have, by partition. `taken`: the highest position that a partition has folded of a source. */
  lost(
    partitions: number,
    taken: (partition: number, source: string) => Pick<SourcePosition, 'offset' | 'index'> | undefined,
  ): readonly { readonly partition: number; readonly send: Send }[] {
    return this.#kept.flatMap((send) => {
      const targets = send.key === null ? [...Array(partitions).keys()] : [partitionOf(send.key, partitions)]
      return targets
        .filter((partition) => isAbove(send.source, taken(partition, send.source.source)))
        .map((partition) => ({ partition, send }))
    })
  }
}

function isAbove(source: SourcePosition, taken: Pick<SourcePosition, 'offset' | 'index'> | undefined): boolean {
  if (taken === undefined || source.offset > taken.offset) return true
  return source.offset === taken.offset && source.index > taken.index
}
