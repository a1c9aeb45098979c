import type { Deadline, FoldContext } from '../../topology/processor.js'
import { SEPARATOR } from './tables.js'

/** What a deadline of this domain is for. */
const KINDS = ['pending', 'tombstone', 'announce', 'check', 'forget', 'claim', 'denied'] as const
export type DeadlineKind = (typeof KINDS)[number]

/** `subject`: the handle, plugin, alternate id or claim; `rest`: for `announce`, the last handle done. */
export function deadlineId(kind: DeadlineKind, subject: string, rest = ''): string {
  return kind + SEPARATOR + subject + SEPARATOR + rest
}

export interface ParsedDeadline {
  readonly kind: DeadlineKind
  readonly subject: string
  readonly rest: string
}

export function parseDeadlineId({ id }: Deadline): ParsedDeadline {
  const first = id.indexOf(SEPARATOR)
  // A claim's id is its caller's text: only the last separator ends the subject.
  const last = id.lastIndexOf(SEPARATOR)
  return {
    kind: id.slice(0, first) as DeadlineKind,
    subject: id.slice(first + 1, last),
    rest: id.slice(last + 1),
  }
}

/** Arms a row's deadline in place of the one it had. */
export function rearm(context: FoldContext, id: string, oldDue: number, newDue: number): void {
  if (oldDue === newDue) return
  if (oldDue !== 0) context.disarm(oldDue, id)
  if (newDue !== 0) context.arm(newDue, id)
}
