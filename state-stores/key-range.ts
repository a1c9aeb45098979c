import type { KeyRange } from './key-value-store.js'

/** A range with at most one lower and one upper bound, and a limit that is always there (Infinity when open). */
export interface TightRange {
  readonly gte?: Buffer
  readonly gt?: Buffer
  readonly lt?: Buffer
  readonly lte?: Buffer
  readonly reverse: boolean
  readonly limit: number
}

/**
 * The same range with the tighter bound of each side. An upper bound of no bytes holds no key, so the limit is then 0.
 * Throws TypeError for a limit that is not a whole number from 0.
 */
export function tightenRange(range: KeyRange = {}): TightRange {
  const { gte, gt, lt, lte, reverse = false, limit = Infinity } = range
  if (limit !== Infinity && !(Number.isSafeInteger(limit) && limit >= 0)) {
    throw new TypeError(`limit must be a whole number from 0, not ${String(limit)}`)
  }
  const lower = gt !== undefined && (gte === undefined || gt.compare(gte) >= 0) ? { gt } : gte ? { gte } : {}
  const upper = lt !== undefined && (lte === undefined || lt.compare(lte) <= 0) ? { lt } : lte ? { lte } : {}
  const isEmpty = lt?.length === 0 || lte?.length === 0
  return { ...lower, ...upper, reverse, limit: isEmpty ? 0 : limit }
}

/** Whether a key lies between the bounds. */
export function isInRange(key: Buffer, { gte, gt, lt, lte }: KeyRange): boolean {
  return (
    (gte === undefined || key.compare(gte) >= 0) &&
    (gt === undefined || key.compare(gt) > 0) &&
    (lt === undefined || key.compare(lt) < 0) &&
    (lte === undefined || key.compare(lte) <= 0)
  )
}

/** Throws TypeError for a key that no store takes: not bytes, or none. */
export function assertKey(key: Buffer): void {
  if (!Buffer.isBuffer(key)) throw new TypeError('a key must be a Buffer')
  if (key.length === 0) throw new TypeError('a key must have at least one byte')
}
