import { createHash } from 'node:crypto'

/** A short name for a text: other texts have other names. */
export function contentName(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}
