import { isPlainText } from '../cloudevents/cloud-event.js'

/** Longest name of a platform, address or call, in characters. */
export const NAME_LIMIT = 255

/** Why a text can't name a platform, an address or a call, in words; null: it can. */
export function nameFault(name: string): string | null {
  if (name.trim() === '') return 'is blank'
  if (name.length > NAME_LIMIT) return `has ${name.length} characters, at most ${NAME_LIMIT} are taken`
  return isPlainText(name) ? null : 'has a control character or a line break'
}

/**
 * As `nameFault`; a platform's name is also the first part of its alarms' keys, `{platform}/{address id}`, and a segment of
 * paths, which clients drop where it is one of dots, however it is written.
 */
export function platformNameFault(name: string): string | null {
  if (name === '.' || name === '..') return 'is a dot segment'
  return nameFault(name) ?? (name.includes('/') ? 'has a slash' : null)
}
