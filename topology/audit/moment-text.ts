import { cut } from '../../common/errors.js'
import type { Position } from '../streams.js'
import { AuditError } from './errors.js'
import type { Moment } from './moment.js'

/** A time as ISO 8601 with its zone, or ms since 1970. Errors: AUDIT_MOMENT_INVALID. */
export function parseTime(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  const time = /^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:?\d\d)$/.test(text) ? Date.parse(text) : NaN
  if (Number.isNaN(time)) throw new AuditError('AUDIT_MOMENT_INVALID', `${cut(text)} is no time`)
  return time
}

/** Positions as answers carry them, by comma. Errors: AUDIT_MOMENT_INVALID. */
export function parsePositions(text: string): readonly Position[] {
  return text.split(',').map((part) => {
    const [, topic, partition, offset] = /^\s*([\w.-]+)\/(\d{1,9})\/(\d{1,15})\s*$/.exec(part) ?? []
    if (topic === undefined) throw new AuditError('AUDIT_MOMENT_INVALID', `${cut(part)} is no position`)
    return { topic, partition: Number(partition), offset: Number(offset) }
  })
}

export function parseOffset(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new AuditError('AUDIT_MOMENT_INVALID', `${cut(text)} is no offset`)
}

/** `end`, a time, or positions. Errors: AUDIT_MOMENT_INVALID. */
export function parseMoment(text: string): Moment {
  if (text === 'end') return { kind: 'end' }
  if (text.includes('/')) return { kind: 'positions', positions: parsePositions(text) }
  return { kind: 'time', time: parseTime(text) }
}
