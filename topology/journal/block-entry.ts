import type { AvroReader, AvroWriter } from '../../schemas/avro-bytes.js'
import { avroValue } from '../../schemas/avro-value.js'
import type { AvroValue } from '../../schemas/avro-value.js'
import type { AvroRecordSchema } from '../../schemas/avro.js'
import type { Original, SourcePosition } from '../processor.js'
import type { EventEntry, JournalEntry, OwnerEntry, TimerEntry } from './entry.js'
import { originSchema, originalSchema, ownerSchema, timerSchema } from './block-schema.js'

type Origin = Record<'commandId' | 'effectId' | 'actor' | 'reason', string | null>
type Timer = Omit<TimerEntry, 'kind' | 'source'>
type Owner = Omit<OwnerEntry, 'kind' | 'source'>

interface AvroOriginal {
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: readonly { readonly name: string; readonly value: Buffer }[]
}

const origins = avroValue(['null', originSchema]) as AvroValue<Origin | null>
const originals = avroValue(['null', originalSchema]) as AvroValue<AvroOriginal | null>
const timers = avroValue(timerSchema) as AvroValue<Timer>
const owners = avroValue(ownerSchema) as AvroValue<Owner>

/** Branches of an entry's body. */
const TIMER = 0
const OWNER = 1
const FIRST_EVENT = 2

interface EventType {
  readonly type: string
  readonly branch: number
  readonly data: AvroValue<object>
}

export interface EntryTypes {
  readonly list: readonly EventType[]
  readonly byName: ReadonlyMap<string, EventType>
}

/** What the entries of a domain can be; `events` are its Avro records by type. */
export function entryTypes(events: Readonly<Record<string, AvroRecordSchema>>): EntryTypes {
  const list = Object.entries(events).map(([type, schema], i): EventType => {
    return { type, branch: FIRST_EVENT + i, data: avroValue(schema) as AvroValue<object> }
  })
  return { list, byName: new Map(list.map((each) => [each.type, each])) }
}

/** `source`: its number in the block. Throws where the entry does not fit its schema. */
export function writeEntry(out: AvroWriter, entry: JournalEntry, source: number, types: EntryTypes): void {
  out.long(source)
  out.long(entry.source.offset)
  out.long(entry.source.index)
  origins.write(out, entry.kind === 'timer' ? null : originOf(entry))
  originals.write(out, entry.kind === 'event' && entry.original !== undefined ? toAvro(entry.original) : null)
  if (entry.kind === 'timer') {
    out.long(TIMER)
    timers.write(out, entry)
  } else if (entry.kind === 'owner') {
    out.long(OWNER)
    owners.write(out, entry)
  } else {
    const type = types.byName.get(entry.event.type)
    if (type === undefined) throw new TypeError(`there is no event ${entry.event.type}`)
    out.long(type.branch)
    type.data.write(out, entry.event.data)
  }
}

/** Errors: RangeError where no entry stands there. */
export function readEntry(from: AvroReader, sources: readonly string[], types: EntryTypes): JournalEntry {
  const name = sources[from.long()]
  if (name === undefined) throw new RangeError('an entry has a source without name')
  const source: SourcePosition = { source: name, offset: from.long(), index: from.long() }
  const origin = origins.read(from)
  const original = originals.read(from)
  const branch = from.long()
  if (branch === TIMER) return { kind: 'timer', source, ...timers.read(from) }
  if (branch === OWNER) return { kind: 'owner', source, ...owners.read(from), ...actOf(origin) }
  const type = types.list[branch - FIRST_EVENT]
  if (type === undefined) throw new RangeError(`there is no event ${branch}`)
  const event = { type: type.type, data: type.data.read(from) }
  if (origin === null && original === null) return { kind: 'event', source, event }
  return {
    ...{ kind: 'event', source, event },
    ...(origin?.commandId != null && { commandId: origin.commandId }),
    ...(origin?.effectId != null && { effectId: origin.effectId }),
    ...actOf(origin),
    ...(original !== null && {
      original: { ...original, headers: original.headers.map((header) => [header.name, header.value] as const) },
    }),
  }
}

/** Goes behind an entry without making it. Errors: as `readEntry`. */
export function skipEntry(from: AvroReader, sources: readonly string[], types: EntryTypes): void {
  if (sources[from.long()] === undefined) throw new RangeError('an entry has a source without name')
  from.long()
  from.long()
  origins.skip(from)
  originals.skip(from)
  const branch = from.long()
  const body = branch === TIMER ? timers : branch === OWNER ? owners : types.list[branch - FIRST_EVENT]?.data
  if (body === undefined) throw new RangeError(`there is no event ${branch}`)
  body.skip(from)
}

function actOf(origin: Origin | null): Pick<EventEntry, 'actor' | 'reason'> {
  return {
    ...(origin?.actor != null && { actor: origin.actor }),
    ...(origin?.reason != null && { reason: origin.reason }),
  }
}

function originOf(entry: EventEntry | OwnerEntry): Origin | null {
  const { actor, reason } = entry
  const { commandId, effectId } = entry.kind === 'event' ? entry : {}
  if (commandId === undefined && effectId === undefined && actor === undefined && reason === undefined) return null
  return {
    commandId: commandId ?? null,
    effectId: effectId ?? null,
    actor: actor ?? null,
    reason: reason ?? null,
  }
}

function toAvro(original: Original): AvroOriginal {
  return { ...original, headers: original.headers.map(([name, value]) => ({ name, value })) }
}
