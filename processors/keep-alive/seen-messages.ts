import type { Reads } from '../../topology/processor.js'
import { deadlineId } from './context.js'
import type { Context } from './context.js'
import { keyOf, seenMessages } from './tables.js'

interface Message {
  readonly ric: string
  readonly source: string
  readonly eventId: string
}

const REMEMBERED_MS = 10 * 60_000

export function readsOfMessage({ ric, source, eventId }: Message): Reads {
  return { rows: [{ table: seenMessages, key: keyOf(ric, source, eventId) }] }
}

/**
 * Whether a message was delivered before, in the last ten minutes: an init or a lost connection that counts twice undoes a
 * setup that came between. Without id nothing can be told. (keep-alive, section 6)
 */
export function isRepeat({ ric, source, eventId }: Message, context: Context): boolean {
  if (eventId === '') return false
  const key = keyOf(ric, source, eventId)
  if (context.get(seenMessages, key) !== undefined) {
    context.count('repeated_messages')
    context.because('delivered before: changes nothing')
    return true
  }
  const due = context.time + REMEMBERED_MS
  context.put(seenMessages, key, { due })
  context.arm(due, deadlineId('seen', ric, source, eventId))
  return false
}

export function messageForgotten(key: string, context: Context): void {
  context.delete(seenMessages, key)
}
