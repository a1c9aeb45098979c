import type { NewRecord } from '../log/log.js'

/** What every log takes as one record, with room for what drivers add. */
export const MAX_RECORD_BYTES = 1_000_000
/** Of a text in UTF-8. */
export const MAX_BYTES_PER_UNIT = 3

/** Bytes of key, value and headers at most: what counts against a log's limit. */
export function recordBytes({ key, value, headers }: Pick<NewRecord, 'key' | 'value' | 'headers'>): number {
  let bytes = (key?.length ?? 0) + (value?.length ?? 0)
  for (const [name, text] of headers ?? []) bytes += MAX_BYTES_PER_UNIT * name.length + text.length
  return bytes
}

/** Bytes of key, value and headers. */
export function exactRecordBytes({ key, value, headers }: Pick<NewRecord, 'key' | 'value' | 'headers'>): number {
  let bytes = (key?.length ?? 0) + (value?.length ?? 0)
  for (const [name, text] of headers ?? []) bytes += Buffer.byteLength(name) + text.length
  return bytes
}
