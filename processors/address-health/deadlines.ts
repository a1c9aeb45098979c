import type { Deadline } from '../../topology/processor.js'
import { SEPARATOR } from './tables.js'

/** What a deadline of this domain is for: the end of a window, of a retry, or telling Alertmanager again. */
export type DeadlineSubject =
  | { readonly kind: 'window' | 'attempt'; readonly platform: string; readonly addressId: number }
  | { readonly kind: 'alert'; readonly alarm: string }

export function addressDeadline(kind: 'window' | 'attempt', platform: string, addressId: number): string {
  return kind + SEPARATOR + platform + SEPARATOR + String(addressId)
}

export function alertDeadline(alarm: string): string {
  return 'alert' + SEPARATOR + alarm
}

export function deadlineSubject({ id }: Deadline): DeadlineSubject {
  const [kind, subject = '', addressId] = id.split(SEPARATOR)
  if (kind === 'alert') return { kind, alarm: subject }
  return { kind: kind as 'window' | 'attempt', platform: subject, addressId: Number(addressId) }
}
