/** Characters that no cm handle id may have. (trust levels, section 1.4) */
const FORBIDDEN_IN_ID = new Set('=!" #$%&\'()*+,./\\:;<>?@[]^`{|}~')
const ID_LIMIT = 255
const ALTERNATE_ID_LIMIT = 2048

/** Why a text can't be a cm handle id; null: it can. */
export function cmHandleIdFault(id: string): 'empty' | 'long' | 'character' | null {
  if (id === '') return 'empty'
  if (id.length > ID_LIMIT) return 'long'
  for (const character of id) if (FORBIDDEN_IN_ID.has(character)) return 'character'
  return hasUnwritable(id) ? 'character' : null
}

/** Why a text can't be an alternate id, in words; null: it can. */
export function alternateIdFault(alternateId: string): string | null {
  if (alternateId.length > ALTERNATE_ID_LIMIT) return `alternate id is longer than ${ALTERNATE_ID_LIMIT} characters`
  return hasUnwritable(alternateId) ? 'alternate id has control characters or is not Unicode text' : null
}

/** Control characters, and halves of surrogate pairs, which two different ids would lose to one. */
function hasUnwritable(text: string): boolean {
  return /[\p{Cc}\p{Cs}]/u.test(text)
}
