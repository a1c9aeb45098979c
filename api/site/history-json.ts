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

export function historyFromJson({ records, ...part }: HistoryPartJson): HistoryPart {
  return {
    ...part,
    records: records.map(([offset, timestamp, value]) => ({
      offset,
      timestamp,
      key: null,
      value: value === null ? null : Buffer.from(value, 'base64'),
      headers: [],
    })),
  }
}
