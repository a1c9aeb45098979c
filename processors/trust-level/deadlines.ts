import type { Deadline, FoldContext } from '../../topology/processor.js'
import { SEPARATOR } from './tables.js'

/** What a deadline of this domain is for. */
export type DeadlineKind = 'pending' | 'tombstone' | 'announce' | 'check' | 'forget' | 'claim' | 'denied'

export interface DeadlineSubject {
  readonly kind: DeadlineKind
  /** The handle, plugin, alternate id or claim. */
  readonly subject: string
  /** For `announce`: the last handle done. */
  readonly rest: string
  readonly due: number
}

export function deadlineId(kind: DeadlineKind, subject: string, rest = ''): string {
  return kind + SEPARATOR + subject + SEPARATOR + rest
}

export function deadlineSubject({ id, due }: Deadline): DeadlineSubject {
  const first = id.indexOf(SEPARATOR)
  // A claim's id is its caller's text: only the last separator ends the subject.
  const last = id.lastIndexOf(SEPARATOR)
  return {
    kind: id.slice(0, first) as DeadlineKind,
    subject: id.slice(first + 1, last),
    rest: id.slice(last + 1),
    due,
  }
}

/** Arms a row's deadline in place of the one it had. */
export function rearm(context: FoldContext, id: string, oldDue: number, newDue: number): void {
  if (oldDue === newDue) return
  if (oldDue !== 0) context.disarm(oldDue, id)
  if (newDue !== 0) context.arm(newDue, id)
}
