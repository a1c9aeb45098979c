import { crc32 } from 'node:zlib'
import { avroType } from '../../schemas/avro.js'
import type { AvroRecordSchema } from '../../schemas/avro.js'
import { cut, ensureError } from '../../common/errors.js'
import { EngineError } from '../errors.js'
import type { Headers } from '../log/log.js'
import type { JournalEvent } from '../processor.js'
import type { EventEntry, JournalEntry } from './entry.js'

/**
 * A journal record carries a block of entries: appending a record costs a Kafka client far more than reading one.
 * Layout: one byte format version, the CRC-32 of the rest, then Avro. Sources are named once a block.
 */
export interface BlockCodec {
  encode(entries: readonly JournalEntry[]): Buffer
  /** Errors: BLOCK_UNREADABLE. */
  decode(block: Buffer): JournalEntry[]
}

const FORMAT_VERSION = 2
const HEADER_BYTES = 5

const optional = (name: string): { name: string; type: string[]; default: null } => ({
  name,
  type: ['null', 'string'],
  default: null,
})

const blockSchema = (events: readonly AvroRecordSchema[]): object => ({
  type: 'record',
  name: 'Block',
  fields: [
    { name: 'sources', type: { type: 'array', items: 'string' } },
    {
      name: 'entries',
      type: {
        type: 'array',
        items: {
          type: 'record',
          name: 'Entry',
          fields: [
            { name: 'source', type: 'int' },
            { name: 'offset', type: 'long' },
            { name: 'index', type: 'int' },
            {
              name: 'origin',
              type: [
                'null',
                {
                  type: 'record',
                  name: 'Origin',
                  fields: [optional('commandId'), optional('effectId'), optional('actor'), optional('reason')],
                },
              ],
            },
            {
              name: 'original',
              type: [
                'null',
                {
                  type: 'record',
                  name: 'Original',
                  fields: [
                    { name: 'key', type: ['null', 'bytes'] },
                    { name: 'value', type: ['null', 'bytes'] },
                    {
                      name: 'headers',
                      type: {
                        type: 'array',
                        items: {
                          type: 'record',
                          name: 'Header',
                          fields: [
                            { name: 'name', type: 'string' },
                            { name: 'value', type: 'bytes' },
                          ],
                        },
                      },
                    },
                  ],
                },
              ],
            },
            {
              name: 'body',
              type: [
                {
                  type: 'record',
                  name: 'TimerFired',
                  fields: [
                    { name: 'due', type: 'long' },
                    { name: 'id', type: 'string' },
                    { name: 'epoch', type: 'long' },
                  ],
                },
                {
                  type: 'record',
                  name: 'OwnerAnnounced',
                  fields: [
                    { name: 'epoch', type: 'long' },
                    { name: 'foldVersion', type: 'int' },
                    { name: 'settings', type: 'string' },
                    { name: 'preloaded', type: 'boolean' },
                    { name: 'instance', type: 'string' },
                  ],
                },
                ...events,
              ],
            },
          ],
        },
      },
    },
  ],
})

interface AvroOriginal {
  key: Buffer | null
  value: Buffer | null
  headers: { name: string; value: Buffer }[]
}
interface AvroEntry {
  source: number
  offset: number
  index: number
  origin: { commandId: string | null; effectId: string | null; actor: string | null; reason: string | null } | null
  original: AvroOriginal | null
  body: Record<string, object>
}
interface AvroBlock {
  sources: string[]
  entries: AvroEntry[]
}

/** The codec of a domain's journal; `events` are its Avro records by type. */
export function blockCodec(events: Readonly<Record<string, AvroRecordSchema>>): BlockCodec {
  const type = avroType(blockSchema(Object.values(events)))
  const branches = branchNames(events)
  return {
    encode(entries) {
      const sources: string[] = []
      const block: AvroBlock = { sources, entries: [] }
      let lastSource = -1
      for (const entry of entries) {
        if (lastSource < 0 || sources[lastSource] !== entry.source.source) {
          lastSource = sources.indexOf(entry.source.source)
          if (lastSource < 0) lastSource = sources.push(entry.source.source) - 1
        }
        block.entries.push({
          source: lastSource,
          offset: entry.source.offset,
          index: entry.source.index,
          origin: entry.kind === 'event' ? originOf(entry) : null,
          original: entry.kind === 'event' && entry.original !== undefined ? toAvro(entry.original) : null,
          body: bodyOf(entry, branches.ofType),
        })
      }
      const bytes = type.toBuffer(block)
      const out = Buffer.allocUnsafe(HEADER_BYTES + bytes.length)
      out[0] = FORMAT_VERSION
      out.writeUInt32LE(crc32(bytes), 1)
      bytes.copy(out, HEADER_BYTES)
      return out
    },
    decode(bytes) {
      if (bytes[0] !== FORMAT_VERSION) {
        throw unreadable(`has format version ${cut(bytes[0])}, not ${FORMAT_VERSION}`)
      }
      const body = bytes.subarray(HEADER_BYTES)
      // Damaged or foreign bytes must not reach Avro: a count in them may ask for more memory than there is.
      if (bytes.length < HEADER_BYTES || crc32(body) !== bytes.readUInt32LE(1)) throw unreadable('has another checksum')
      let block: AvroBlock
      try {
        block = type.fromBuffer(body) as AvroBlock
      } catch (thrown) {
        throw unreadable(`does not fit its schema: ${cut(ensureError(thrown).message)}`, thrown)
      }
      const entries: JournalEntry[] = []
      for (const entry of block.entries) {
        entries.push(fromAvro(entry, block.sources[entry.source] ?? '', branches.typeOf))
      }
      return entries
    },
  }
}

function unreadable(why: string, cause?: unknown): EngineError {
  return new EngineError('BLOCK_UNREADABLE', `journal block ${why}`, cause === undefined ? {} : { cause })
}

function originOf(entry: EventEntry): AvroEntry['origin'] {
  if (
    entry.commandId === undefined &&
    entry.effectId === undefined &&
    entry.actor === undefined &&
    entry.reason === undefined
  ) {
    return null
  }
  return {
    commandId: entry.commandId ?? null,
    effectId: entry.effectId ?? null,
    actor: entry.actor ?? null,
    reason: entry.reason ?? null,
  }
}

function toAvro(original: { key: Buffer | null; value: Buffer | null; headers: Headers }): AvroOriginal {
  return { ...original, headers: original.headers.map(([name, value]) => ({ name, value })) }
}

interface BranchNames {
  /** Avro's full name of an event type: the key of its branch in the union. */
  readonly ofType: ReadonlyMap<string, string>
  readonly typeOf: ReadonlyMap<string, string>
}

function branchNames(events: Readonly<Record<string, AvroRecordSchema>>): BranchNames {
  const names = Object.entries(events).map(([type, { name, namespace }]) => {
    return [type, namespace === undefined ? name : `${namespace}.${name}`] as const
  })
  return { ofType: new Map(names), typeOf: new Map(names.map(([type, branch]) => [branch, type])) }
}

function bodyOf(entry: JournalEntry, branchOfType: ReadonlyMap<string, string>): Record<string, object> {
  switch (entry.kind) {
    case 'event':
      return { [branchOfType.get(entry.event.type) ?? entry.event.type]: entry.event.data }
    case 'timer':
      return { TimerFired: { due: entry.due, id: entry.id, epoch: entry.epoch } }
    case 'owner': {
      const { epoch, foldVersion, settings, preloaded, instance } = entry
      return { OwnerAnnounced: { epoch, foldVersion, settings, preloaded, instance } }
    }
  }
}

function fromAvro(entry: AvroEntry, sourceName: string, typeOfBranch: ReadonlyMap<string, string>): JournalEntry {
  const source = { source: sourceName, offset: entry.offset, index: entry.index }
  let branch = ''
  for (branch in entry.body) break
  const data = entry.body[branch] as object
  if (branch === 'TimerFired') return { kind: 'timer', source, ...(data as { due: number; id: string; epoch: number }) }
  if (branch === 'OwnerAnnounced') {
    const owner = data as { epoch: number; foldVersion: number; settings: string; preloaded: boolean; instance: string }
    return { kind: 'owner', source, ...owner }
  }
  const event: JournalEvent = { type: typeOfBranch.get(branch) ?? branch, data }
  const { origin, original } = entry
  if (origin === null && original === null) return { kind: 'event', source, event }
  return {
    kind: 'event',
    source,
    event,
    ...(origin?.commandId != null && { commandId: origin.commandId }),
    ...(origin?.effectId != null && { effectId: origin.effectId }),
    ...(origin?.actor != null && { actor: origin.actor }),
    ...(origin?.reason != null && { reason: origin.reason }),
    ...(original !== null && {
      original: {
        key: original.key,
        value: original.value,
        headers: original.headers.map((header) => [header.name, header.value] as const),
      },
    }),
  }
}
