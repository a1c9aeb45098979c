import { Client } from 'undici'
import type { Clock } from '../../../common/clock.js'
import { cut } from '../../../common/errors.js'
import type { PluginAddressPolicy } from '../../../common/plugin-address.js'
import type { DmiPluginChecked } from '../../../schemas/trust-level/journal-events.js'
import type { Effector } from '../../../topology/processor.js'
import { DMI_HEALTH_CHECK, type DmiHealthCheckRequest } from './dmi-health-check-request.js'
import { lookupAmong, permittedAddresses, systemResolve, type Resolve } from './permitted-addresses.js'

export interface DmiHealthCheckOptions {
  readonly clock: Clock
  /** Asked in this order below the plugin's address, the remembered one first. */
  readonly healthPaths: readonly string[]
  /** For the whole check: name, connections, all paths and the retry. */
  readonly deadlineMs: number
  /** Basic authorization; an empty user name: none. */
  readonly username: string
  readonly password: string
  readonly policy: PluginAddressPolicy
  /** Default: the system's. */
  readonly resolve?: Resolve
}

type Health = Omit<DmiPluginChecked, 'plugin'>

const MAX_BODY_BYTES = 64 * 1024
const MAX_HEADER_BYTES = 16 * 1024

/** The check ends itself at its deadline; whoever waits for it gives it this much longer. */
const MARGIN_MS = 500

/**
 * Asks a plugin for its health. It is up only when it answers with 2xx and a JSON body whose top-level `status` is exactly
 * "UP"; a 404 moves on to the next path; a redirect is not followed. Everything else is down, with the reason in words: no
 * credentials are in it. A connection is made anew for each request, so that a plugin which takes no new ones is down, and
 * only to an address that the policy allows at that moment; a reset is tried once more. Bodies are read up to 64 KiB.
 * `perform` rejects only when `signal` is aborted. (trust levels, sections 0, 4 and 9)
 */
export function dmiHealthCheck(options: DmiHealthCheckOptions): Effector {
  const { clock, deadlineMs } = options
  return {
    kind: DMI_HEALTH_CHECK,
    deadlineMs: deadlineMs + MARGIN_MS,
    async perform(request, signal) {
      signal.throwIfAborted()
      const { plugin, healthPath } = request.payload as DmiHealthCheckRequest
      const ended = new AbortController()
      const stop = (): void => ended.abort()
      signal.addEventListener('abort', stop, { once: true })
      const cancelDeadline = clock.setTimer(stop, deadlineMs)
      try {
        const health = await check(plugin, healthPath, options, ended.signal)
        signal.throwIfAborted()
        return { type: 'DmiPluginChecked', data: { plugin, ...health } }
      } catch (error) {
        signal.throwIfAborted()
        const reason = ended.signal.aborted ? `no full answer within ${deadlineMs} ms` : failureInWords(error)
        return { type: 'DmiPluginChecked', data: { plugin, ...down(reason) } }
      } finally {
        cancelDeadline()
        signal.removeEventListener('abort', stop)
      }
    },
  }
}

async function check(
  plugin: string,
  rememberedPath: string,
  options: DmiHealthCheckOptions,
  signal: AbortSignal,
): Promise<Health> {
  const resolve = options.resolve ?? systemResolve
  const { permitted, refusal } = await permittedAddresses(plugin, options.policy, resolve, signal)
  if (permitted.length === 0) return down(refusal)

  const url = new URL(plugin)
  const client = new Client(url.origin, {
    pipelining: 0, // a connection for each request
    maxHeaderSize: MAX_HEADER_BYTES,
    maxResponseSize: MAX_BODY_BYTES,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { lookup: lookupAmong(permitted), timeout: 0, signal },
  })
  // A request that waits for its connection does not hear the signal itself.
  const destroy = (): void => void client.destroy()
  signal.addEventListener('abort', destroy, { once: true })
  try {
    const get = retriedOnce((path: string) => getHealth(client, path, authorization(options)))
    for (const path of rememberedFirst(options.healthPaths, rememberedPath)) {
      const health = await get(`${url.pathname.replace(/\/+$/, '')}${path}`)
      if (health !== null) return { ...health, healthPath: path }
    }
    return down(`answered 404 at ${options.healthPaths.join(' and ')}`)
  } finally {
    signal.removeEventListener('abort', destroy)
    await client.destroy()
  }
}

/** null: there is no such path. */
async function getHealth(
  client: Client,
  path: string,
  authorization: Readonly<Record<string, string>>,
): Promise<Omit<Health, 'healthPath'> | null> {
  const headers = { accept: 'application/json', 'content-type': 'application/json', ...authorization }
  const { statusCode, body } = await client.request({ method: 'GET', path, headers })
  if (statusCode >= 200 && statusCode < 300) return judgement(await body.text())
  await body.dump({ limit: MAX_BODY_BYTES })
  if (statusCode === 404) return null
  const isRedirect = statusCode >= 300 && statusCode < 400
  return { up: false, reason: `answered ${statusCode}${isRedirect ? '; redirects are not followed' : ''}` }
}

function judgement(body: string): Omit<Health, 'healthPath'> {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    return { up: false, reason: 'the body is not JSON' }
  }
  const status = typeof parsed === 'object' && parsed !== null && 'status' in parsed ? parsed.status : undefined
  if (status === 'UP') return { up: true, reason: 'status UP' }
  return { up: false, reason: status === undefined ? 'the body has no status' : `status ${cut(status)}` }
}

function down(reason: string): Health {
  return { up: false, healthPath: '', reason }
}

/** One retry in all, and only after a reset. (HS-06) */
function retriedOnce<Result>(get: (path: string) => Promise<Result>): (path: string) => Promise<Result> {
  let triesLeft = 2
  return async (path) => {
    for (;;) {
      try {
        return await get(path)
      } catch (error) {
        if (!RESETS.includes(codeOf(error)) || --triesLeft === 0) throw error
      }
    }
  }
}

function rememberedFirst(paths: readonly string[], remembered: string): readonly string[] {
  return paths.includes(remembered) ? [remembered, ...paths.filter((path) => path !== remembered)] : paths
}

function authorization({ username, password }: DmiHealthCheckOptions): Record<string, string> {
  return username === '' ? {} : { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }
}

const RESETS: readonly string[] = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']

const FAILURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  UND_ERR_SOCKET: 'connection closed before the answer was complete',
  ENOTFOUND: 'name not found',
  EAI_AGAIN: 'name could not be resolved',
  EHOSTUNREACH: 'host not reachable',
  ENETUNREACH: 'network not reachable',
  UND_ERR_HEADERS_OVERFLOW: `headers longer than ${MAX_HEADER_BYTES} bytes`,
  UND_ERR_RES_EXCEEDED_MAX_SIZE: `body longer than ${MAX_BODY_BYTES} bytes`,
}

function failureInWords(error: unknown): string {
  const code = codeOf(error)
  return FAILURES[code] ?? `no HTTP answer (${code})`
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown failure'
}
