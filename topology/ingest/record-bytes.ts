import type { NewRecord } from '../log/log.js'

/** What every log takes as one record, with room for what drivers add. */
export const MAX_RECORD_BYTES = 1_000_000

/** Bytes of key, value and headers: what counts against a log's limit. */
export function recordBytes({ key, value, headers }: Pick<NewRecord, 'key' | 'value' | 'headers'>): number {
  let bytes = (key?.length ?? 0) + (value?.length ?? 0)
  for (const [name, text] of headers ?? []) bytes += Buffer.byteLength(name) + text.length
  return bytes
}
