import type { NewRecord } from '../log/log.js'

/** Bytes of key, value and headers: what counts against a log's limit. */
export function recordBytes({ key, value, headers }: Pick<NewRecord, 'key' | 'value' | 'headers'>): number {
  let bytes = (key?.length ?? 0) + (value?.length ?? 0)
  for (const [name, text] of headers ?? []) bytes += Buffer.byteLength(name) + text.length
  return bytes
}
