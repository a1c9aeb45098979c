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
  return merge(entries, changes.at, (a, b) => a.compare(b), tight)
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
  const decodedAt = (index: number): Change<string> | undefined => {
    const change = changes.at(index)
    return change && [change[0].toString(), change[1]?.toString() ?? null]
  }
  return merge(texts, decodedAt, compareText, tight)
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

type Change<T> = readonly [key: T, value: T | null]

/** The changes between the bounds, in the order of the iteration. */
interface Changes {
  readonly deletes: number
  readonly at: (index: number) => Change<Buffer> | undefined
}

function changesWithin(overlay: Overlay, { gte, gt, lt, lte, reverse }: TightRange): Changes {
  const countBelow = (key: Buffer): number => countWhile(overlay.length, (i) => compareAt(overlay, i, key) < 0)
  const countUpTo = (key: Buffer): number => countWhile(overlay.length, (i) => compareAt(overlay, i, key) <= 0)
  const from = gt !== undefined ? countUpTo(gt) : gte !== undefined ? countBelow(gte) : 0
  const to = lt !== undefined ? countBelow(lt) : lte !== undefined ? countUpTo(lte) : overlay.length
  let deletes = 0
  for (let i = from; i < to; i++) if (overlay[i]?.[1] === null) deletes++
  const at = (index: number): Change<Buffer> | undefined =>
    index < to - from ? overlay[reverse ? to - 1 - index : from + index] : undefined
  return { deletes, at }
}

function compareAt(overlay: Overlay, index: number, key: Buffer): number {
  return overlay[index]?.[0].compare(key) ?? 1
}

/** The range to read of the store: enough entries to fill the limit when the changes have deleted theirs. */
function rangeBelow(range: TightRange, { deletes }: Changes): TightRange {
  return { ...range, limit: range.limit + deletes }
}

async function* merge<T>(
  pages: AsyncIterable<readonly (readonly [T, T])[]>,
  changeAt: (index: number) => Change<T> | undefined,
  compare: (a: T, b: T) => number,
  { reverse, limit }: TightRange,
): AsyncGenerator<readonly (readonly [T, T])[], void> {
  let left = limit
  let position = 0
  let change = changeAt(position)
  let merged: (readonly [T, T])[] = []
  const takeChange = ([key, value]: Change<T>): void => {
    if (value !== null) merged.push([key, value])
    change = changeAt(++position)
  }
  const withChanges = (page: readonly (readonly [T, T])[]): readonly (readonly [T, T])[] => {
    merged = []
    for (const entry of page) {
      let order = 1
      while (change !== undefined && order !== 0) {
        order = reverse ? compare(entry[0], change[0]) : compare(change[0], entry[0])
        if (order > 0) break
        takeChange(change)
      }
      if (order !== 0) merged.push(entry)
      if (merged.length >= left) break
    }
    return merged
  }

  for await (const page of pages) {
    const all = change === undefined ? page : withChanges(page)
    const kept = all.length > left ? all.slice(0, left) : all
    merged = []
    left -= kept.length
    if (kept.length > 0) yield kept
    if (left === 0) return
  }
  while (change !== undefined && merged.length < left) takeChange(change)
  if (merged.length > 0) yield merged
}
