import type { HistoryPart } from '../../topology/preload/mirror.js'

/** A part of a journal as the two sites send it: bytes in base64. */
export interface HistoryPartJson extends Omit<HistoryPart, 'records'> {
  /** Offset, timestamp, value of each record: a journal's records have neither key nor headers. */
  readonly records: readonly (readonly [offset: number, timestamp: number, value: string | null])[]
}

export function historyToJson({ records, ...part }: HistoryPart): HistoryPartJson {
  return {
    ...part,
    records: records.map(({ offset, timestamp, value }) => [offset, timestamp, value?.toString('base64') ?? null]),
  }
}

/** Undefined: it is something else. */
export function historyFromJson(json: unknown): HistoryPart | undefined {
  if (!isPart(json)) return undefined
  return {
    ...json,
    records: json.records.map(([offset, timestamp, value]) => ({
      offset,
      timestamp,
      key: null,
      value: value === null ? null : Buffer.from(value, 'base64'),
      headers: [],
    })),
  }
}

function isPart(json: unknown): json is HistoryPartJson {
  const { topic, partition, incarnation, start, end, next, records } = (json ?? {}) as {
    readonly [Name in keyof HistoryPartJson]?: unknown
  }
  const isPlace = typeof topic === 'string' && typeof incarnation === 'string'
  const areOffsets = [partition, start, end, next].every(isIndex)
  return isPlace && areOffsets && Array.isArray(records) && records.every(isRecord)
}

const isIndex = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0

function isRecord(record: unknown): boolean {
  if (!Array.isArray(record)) return false
  const [offset, timestamp, value] = record as unknown[]
  return isIndex(offset) && Number.isSafeInteger(timestamp) && (value === null || typeof value === 'string')
}
