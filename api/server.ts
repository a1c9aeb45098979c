import type { Server } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { sleep } from '../common/clock.js'
import type { Api, ApiLogger } from './api.js'
import { createApp } from './app.js'
import type { InstanceRoutes } from './instances/route.js'
import type { HealthCheck } from './site/health-check.js'
import type { SiteControl } from './site/site-control.js'
import type { RouteTable } from './route-table.js'
import { trustLevelQueries } from './trust-level-queries.js'
import { createGate } from './gate.js'

export interface ServerOptions extends Omit<Api, 'queries' | 'searches' | 'stopping'> {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  readonly logger: ApiLogger
  /** A request must have arrived as a whole within this time. Default 20 s. */
  readonly requestTimeoutMs?: number
  /** What other instances may ask of this one; absent: nothing. */
  readonly instances?: InstanceRoutes
  /** Of two sites this one; absent: there is but one. */
  readonly site?: SiteControl
  /** Absent: as readiness says. */
  readonly healthCheck?: HealthCheck
}

/** The HTTP service. Lifetime: made, started once, stopped once. */
export interface ApiServer {
  /** Without a socket, for tests and for /openapi.json. */
  readonly app: FastifyInstance
  /** As declared, with `:name` for parameters. */
  readonly routes: RouteTable['routes']
  /** Listens; resolves with where, as `http://host:port`. Rejects with EADDRINUSE and the like. */
  start(): Promise<string>
  /**
   * Stops within 5 s: idle connections are closed at once, feeds are ended, new requests get 503 but for health, running
   * ones finish; what still runs half a second after `drainMs` (default 4 s) is cut off. A second call waits for the first.
   */
  stop(drainMs?: number): Promise<void>
}

/** Searches at work at once: each holds some MB and the store's readers. */
const SEARCHES_AT_ONCE = 4
export const DRAIN_MS = 4000
const CLOSE_MS = 500

export async function createServer(options: ServerOptions): Promise<ApiServer> {
  const { host, port, logger, clock, requestTimeoutMs, instances, site, healthCheck, ...rest } = options
  const stopping = new AbortController()
  const queries = trustLevelQueries(rest.applicationId)
  const api: Api = { ...rest, clock, queries, searches: createGate(SEARCHES_AT_ONCE), stopping: stopping.signal }
  const { app, routes } = await createApp(api, logger, { instances, requestTimeoutMs, site, healthCheck })
  const running = countRunning(app)
  let stopped: Promise<void> | undefined

  async function stop(drainMs: number): Promise<void> {
    stopping.abort()
    const server: Server = app.server
    server.closeIdleConnections()
    await atMost(drainMs, running.none())
    const closed = app.close()
    await atMost(CLOSE_MS, closed)
    server.closeAllConnections()
    await closed
  }

  async function atMost(limitMs: number, done: PromiseLike<void>): Promise<void> {
    const isDone = new AbortController()
    await Promise.race([done, sleep(clock, limitMs, isDone.signal)])
    isDone.abort()
  }

  return {
    app,
    routes: routes.routes,
    start: () => app.listen({ host, port }),
    stop: (drainMs = DRAIN_MS) => (stopped ??= stop(drainMs)),
  }
}

/** Requests whose answer is not out yet. */
function countRunning(app: FastifyInstance): { none(): Promise<void> } {
  let running = 0
  const waiting: (() => void)[] = []
  app.server.on('request', (_request, response) => {
    running++
    response.once('close', () => {
      running--
      if (running === 0) for (const resolve of waiting.splice(0)) resolve()
    })
  })
  return { none: () => (running === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))) }
}
