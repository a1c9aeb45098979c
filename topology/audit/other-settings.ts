import { cut } from '../../common/errors.js'
import type { JournalEntry } from '../journal/entry.js'
import type { DecodedRecord } from '../journal/readable-records.js'
import type { Processor } from '../processor.js'
import { AuditError } from './errors.js'

export type Values = Readonly<Record<string, unknown>>

/** What values stand for beside those in force, as at a start of the service; throws where they would be refused there. */
export type SettingValues = (processor: Processor, inForce: Values, set: Values) => Values

/** What a what-if of the domain can set: what its folds read of the settings, and parameters in operators' events. */
export function knownNames({ settings, parameters = [] }: Processor): readonly string[] {
  return [...Object.keys(settings as Values), ...parameters]
}

export interface Rewriting {
  /** The record with other values where it has such. Errors: AUDIT_SETTING_INVALID. */
  readonly rewritten: (record: DecodedRecord) => DecodedRecord
  /** What was recorded of parameters, by name. */
  readonly parameters: ReadonlyMap<string, ReadonlySet<unknown>>
}

export function rewriting(processor: Processor, set: Values, valuesOf: SettingValues): Rewriting {
  const { parameters: names = [] } = processor
  const wanted = names.filter((name) => name in set)
  const parameters = new Map(wanted.map((name) => [name, new Set<unknown>()]))

  function withParameters(data: Values): Values {
    const found = wanted.filter((name) => (data[name] ?? null) !== null)
    for (const name of found) parameters.get(name)?.add(data[name])
    return found.length === 0
      ? data
      : { ...data, ...Object.fromEntries(found.map((name) => [name, valueOf(name, data, set)])) }
  }

  function entryOf(entry: JournalEntry): JournalEntry {
    if (entry.kind === 'owner') {
      const changed = changedSettings(processor, JSON.parse(entry.settings) as object, set, valuesOf)
      return { ...entry, settings: JSON.stringify(changed) }
    }
    if (entry.kind === 'timer' || wanted.length === 0) return entry
    const { type, data } = entry.event
    return { ...entry, event: { type, data: withParameters(data as Values) } }
  }

  return { rewritten: (record) => ({ ...record, entries: record.entries.map(entryOf) }), parameters }
}

/** Settings as a term has them, with other values for some. Errors: AUDIT_SETTING_INVALID, and those of `valuesOf`. */
export function changedSettings(processor: Processor, inForce: object, set: Values, valuesOf: SettingValues): object {
  const all = { ...(processor.settings as Values), ...inForce }
  const wanted = Object.fromEntries(Object.entries(set).filter(([name]) => name in all))
  const values = valuesOf(processor, all, wanted)
  return { ...inForce, ...Object.fromEntries(Object.keys(wanted).map((name) => [name, valueOf(name, all, values)])) }
}

function valueOf(name: string, recorded: Values, set: Values): unknown {
  const [before, after] = [recorded[name], set[name]]
  if (typeof before === typeof after) return after
  throw new AuditError('AUDIT_SETTING_INVALID', `${name}: ${cut(String(after))} is no value as ${String(before)}`)
}
