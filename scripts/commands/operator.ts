import { cut, ensureError } from '../../common/errors.js'
import { OperatorError } from './operator-errors.js'

/** Who does something, and why: in the log with what was done. */
export interface OperatorFlags {
  readonly url: string
  readonly actor?: string
  readonly reason?: string
}

/** Asks a running instance; GET without `method`. `headersTimeout`: longest time until the answer begins, ms; 0: any. Rejects with PULSEFOLD_NOT_REACHED, PULSEFOLD_WITHOUT_IT, PULSEFOLD_REFUSED. */
export async function askInstance<Body>(
  flags: OperatorFlags,
  path: string,
  method: 'GET' | 'POST' = 'GET',
  headersTimeout?: number,
): Promise<Body> {
  const headers = {
    ...(flags.actor !== undefined && { 'x-pulsefold-actor': headerValue(flags.actor) }),
    ...(flags.reason !== undefined && { 'x-pulsefold-reason': headerValue(flags.reason) }),
  }
  // Loaded only here: other commands begin sooner without it.
  const { request } = await import('undici')
  let status: number
  let text: string
  try {
    const answer = await request(new URL(path, flags.url), {
      ...{ method, headers },
      ...(headersTimeout !== undefined && { headersTimeout }),
    })
    status = answer.statusCode
    text = await answer.body.text()
  } catch (error) {
    const message = `no answer from ${cut(flags.url)}: ${ensureError(error).message}`
    throw new OperatorError('PULSEFOLD_NOT_REACHED', message, { cause: error })
  }
  if (status === 200) return JSON.parse(text) as Body
  const { code, message } = refusalOf(text)
  throw new OperatorError(
    code === 'ROUTE_NOT_FOUND' ? 'PULSEFOLD_WITHOUT_IT' : 'PULSEFOLD_REFUSED',
    `${method} ${path} answered ${status}: ${cut(message, 500)}`,
  )
}

/** On one line, its UTF-8 as the Latin-1 that a header's bytes are written from. */
function headerValue(text: string): string {
  return Buffer.from(text.replace(/[\s\p{Cc}]+/gu, ' ')).toString('latin1')
}

function refusalOf(text: string): { readonly code?: unknown; readonly message: string } {
  try {
    const { code, message = text } = JSON.parse(text) as { readonly code?: unknown; readonly message?: unknown }
    return { code, message: String(message) }
  } catch {
    return { message: text }
  }
}

/** Where the instance is that a command asks. */
export const urlOption = ['--url <url>', 'address of a running instance', 'http://127.0.0.1:8080'] as const
export const actorOption = ['--actor <name>', 'who does this'] as const
export const reasonOption = ['--reason <text>', 'why'] as const
