import type { BlockCodec } from '../../topology/journal/block-codec.js'
import type { LogRecord } from '../../topology/log/log.js'

/** A journal record for reading: its block as JSON, originals as base64. Undefined for other topics, or what is no block. */
export function decodeRecord(codec: BlockCodec | undefined, record: LogRecord): unknown {
  if (codec === undefined || record.value === null) return undefined
  try {
    return codec.decode(record.value).map((entry) => {
      if (entry.kind !== 'event' || entry.original === undefined) return entry
      const { key, value, headers } = entry.original
      return {
        ...entry,
        original: {
          key: key?.toString('base64') ?? null,
          value: value?.toString('base64') ?? null,
          headers: headers.map(([name, bytes]) => [name, bytes.toString('base64')]),
        },
      }
    })
  } catch {
    return undefined
  }
}
