import { countWhile } from './count-while.js'
import { tightenRange } from './key-range.js'
import type { TightRange } from './key-range.js'
import type { Entry, KeyRange, KeyValueStore, TextEntry } from './key-value-store.js'

/** Changes not yet committed, ascending by the bytes of the key, each key once; null deletes. */
export type Overlay = readonly (readonly [key: Buffer, value: Buffer | null])[]

/**
 * The store's entries with the overlay's changes on them, as the store will be after the commit. Range, order and limit
 * are those of the merged view. Snapshot and changes are as of the call.
 */
export function entriesOver(store: KeyValueStore, overlay: Overlay, range?: KeyRange): AsyncIterable<readonly Entry[]> {
  const tight = tightenRange(range)
  const changes = changesWithin(overlay, tight)
  const entries = store.entries(rangeBelow(tight, changes))
  return merge(entries, changes, (a, b) => a.compare(b), tight)
}

/** As `entriesOver`, keys and values decoded as UTF-8. */
export function textsOver(
  store: KeyValueStore,
  overlay: Overlay,
  range?: KeyRange,
): AsyncIterable<readonly TextEntry[]> {
  const tight = tightenRange(range)
  const changes = changesWithin(overlay, tight)
  const texts = store.texts(rangeBelow(tight, changes))
  const decoded = changes.map(([key, value]) => [key.toString(), value?.toString() ?? null] as const)
  return merge(texts, decoded, compareText, tight)
}

/** Orders texts as their UTF-8 bytes are ordered: surrogate pairs behind all other characters. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const unitOfA = a.charCodeAt(i)
    const unitOfB = b.charCodeAt(i)
    if (unitOfA !== unitOfB) return rank(unitOfA) - rank(unitOfB)
  }
  return a.length - b.length
}

function rank(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit
}

/** The changes between the bounds, in the order of the iteration. */
function changesWithin(overlay: Overlay, { gte, gt, lt, lte, reverse }: TightRange): Overlay {
  const countBelow = (key: Buffer): number => countWhile(overlay.length, (i) => compareAt(overlay, i, key) < 0)
  const countUpTo = (key: Buffer): number => countWhile(overlay.length, (i) => compareAt(overlay, i, key) <= 0)
  const from = gt !== undefined ? countUpTo(gt) : gte !== undefined ? countBelow(gte) : 0
  const to = lt !== undefined ? countBelow(lt) : lte !== undefined ? countUpTo(lte) : overlay.length
  const changes = overlay.slice(from, to)
  return reverse ? changes.reverse() : changes
}

function compareAt(overlay: Overlay, index: number, key: Buffer): number {
  return overlay[index]?.[0].compare(key) ?? 1
}

/** The range to read of the store: enough entries to fill the limit when the changes have deleted theirs. */
function rangeBelow(range: TightRange, changes: Overlay): TightRange {
  return { ...range, limit: range.limit + changes.filter(([, value]) => value === null).length }
}

async function* merge<T>(
  pages: AsyncIterable<readonly (readonly [T, T])[]>,
  changes: readonly (readonly [T, T | null])[],
  compare: (a: T, b: T) => number,
  { reverse, limit }: TightRange,
): AsyncGenerator<readonly (readonly [T, T])[], void> {
  let left = limit
  let position = 0
  const append = (merged: (readonly [T, T])[], [key, value]: readonly [T, T | null]): void => {
    if (value !== null) merged.push([key, value])
  }

  for await (const page of pages) {
    const merged: (readonly [T, T])[] = []
    for (const entry of page) {
      let isReplaced = false
      for (let change = changes[position]; change !== undefined; change = changes[++position]) {
        const order = reverse ? compare(entry[0], change[0]) : compare(change[0], entry[0])
        if (order > 0) break
        append(merged, change)
        isReplaced ||= order === 0
      }
      if (!isReplaced) merged.push(entry)
    }
    const kept = merged.slice(0, left)
    left -= kept.length
    if (kept.length > 0) yield kept
    if (left === 0) return
  }

  const rest: (readonly [T, T])[] = []
  for (const change of changes.slice(position)) append(rest, change)
  if (left > 0 && rest.length > 0) yield rest.slice(0, left)
}
