import { pino } from 'pino'
import type { Logger } from 'pino'
import { PulsefoldError } from './errors.js'
import type { Settings } from './settings-schema.js'

export type { Logger } from 'pino'

const urlLimit = 256
const agentLimit = 128
const stackLimit = 4096

/**
 * The process's logger: one JSON object a line. It writes synchronously, so the last line before any exit is there; a
 * line is never worth waiting for otherwise, as none is written per record. `fd` is standard error, which leaves standard
 * output to what was asked for.
 */
export function createLogger(level: Settings['logLevel'], fd = 2): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: serializeError, error: serializeError, req: serializeRequest, res: serializeReply },
    },
    pino.destination({ fd, sync: true }),
  )
}

/** For code that wants a logger where nobody listens. */
export function silentLogger(): Logger {
  return pino({ enabled: false })
}

function serializeError(thrown: unknown): object {
  if (!(thrown instanceof Error)) return { message: String(thrown).slice(0, stackLimit) }
  const code = 'code' in thrown && typeof thrown.code === 'string' ? { code: thrown.code } : {}
  const ours = thrown instanceof PulsefoldError ? { action: thrown.action, details: thrown.details } : {}
  const cause = thrown.cause === undefined ? {} : { cause: serializeError(thrown.cause) }
  const stack = thrown.stack?.slice(0, stackLimit)
  return { type: thrown.name, ...code, message: thrown.message.slice(0, stackLimit), ...ours, stack, ...cause }
}

interface RequestLike {
  readonly method?: string
  readonly url?: string
  readonly ip?: string
  readonly headers?: Readonly<Record<string, unknown>>
}

/** No header but the user agent: the others may hold credentials. */
function serializeRequest(request: RequestLike): object {
  const agent = request.headers?.['user-agent']
  return {
    method: request.method,
    url: request.url?.slice(0, urlLimit),
    ip: request.ip,
    userAgent: typeof agent === 'string' ? agent.slice(0, agentLimit) : undefined,
  }
}

function serializeReply(reply: { readonly statusCode?: number }): object {
  return { statusCode: reply.statusCode }
}
