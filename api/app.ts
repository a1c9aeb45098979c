import swagger from '@fastify/swagger'
import { Ajv } from 'ajv'
import Fastify, { LogController } from 'fastify'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Api, ApiLogger } from './api.js'
import { registerAudit } from './audit/index.js'
import { answerMalformed } from './client-errors.js'
import { registerE2 } from './e2/index.js'
import { KEEP_ALIVE } from './e2/route.js'
import { registerEvents } from './events/post-events.js'
import { errorBody, surfaceOf } from './error-shapes.js'
import { ApiError, retryAfter } from './errors.js'
import { publicError } from './http-status.js'
import { parseJsonBody } from './json-body.js'
import { parameterError } from './parameter-error.js'
import { registerInstances } from './instances/route.js'
import type { InstanceRoutes } from './instances/route.js'
import { ADDRESS_HEALTH } from './external-platforms/domain.js'
import { registerExternalPlatforms } from './external-platforms/index.js'
import { registerNcmp } from './ncmp/index.js'
import { registerOps, registerTrustLevelOps } from './ops/index.js'
import { registerHealthCheck } from './site/health-check.js'
import type { HealthCheck } from './site/health-check.js'
import { registerInactiveSite } from './site/inactive-site.js'
import { registerSite } from './site/index.js'
import type { SiteControl } from './site/site-control.js'
import { routeTable } from './route-table.js'
import type { RouteTable } from './route-table.js'
import { TRUST_LEVEL } from './trust-level-queries.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answered also while the service stops. */
    readonly servedWhileStopping?: true
    /** Whole numbers in the body are read as their texts, so that no digit is lost. */
    readonly wholeNumbersAsTexts?: true
  }
}

const MAX_BODY_BYTES = 1024 * 1024
const MAX_HEADER_BYTES = 64 * 1024
/** An alternate id of 2,048 characters of four bytes each, every byte percent-encoded. */
const MAX_PARAMETER_LENGTH = 2048 * 12
/** A request must have arrived as a whole within this time; it is looked at ten times in it. */
const REQUEST_TIMEOUT_MS = 20_000
/** A connection on which nothing moves for so long is closed. */
const IDLE_TIMEOUT_MS = 30_000

export interface App {
  readonly app: FastifyInstance
  readonly routes: RouteTable
}

export interface AppOptions {
  readonly requestTimeoutMs?: number | undefined
  readonly instances?: InstanceRoutes | undefined
  readonly site?: SiteControl | undefined
  readonly healthCheck?: HealthCheck | undefined
}

/** The HTTP surface without a socket: all routes, error shapes and bounds. (fastify is imported here only) */
export async function createApp(
  api: Api,
  logger: ApiLogger,
  { requestTimeoutMs = REQUEST_TIMEOUT_MS, instances, site, healthCheck }: AppOptions = {},
): Promise<App> {
  const surface = (request: FastifyRequest): ReturnType<typeof surfaceOf> =>
    surfaceOf(request.url, [api.ncmpBasePath, api.ncmpInventoryBasePath])

  /** What is refused before the body is read. */
  function refusalOf(request: FastifyRequest): ApiError | undefined {
    if (api.stopping.aborted && request.routeOptions.config.servedWhileStopping !== true) {
      return new ApiError('STOPPING', 'the service is stopping', { headers: retryAfter(1000) })
    }
    const encoding = request.headers['content-encoding'] ?? 'identity'
    if (encoding === 'identity') return undefined
    const headers = { 'accept-encoding': 'identity' }
    return new ApiError('MEDIA_TYPE_UNSUPPORTED', 'compressed bodies are not taken', { headers })
  }

  function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const shown = publicError(error, request.id)
    if (shown.code === 'INTERNAL') logger.error({ requestId: request.id, err: shown.cause ?? shown }, 'request failed')
    else logger.debug({ requestId: request.id, code: shown.code, err: shown.cause }, 'request refused')
    return reply
      .status(shown.status)
      .headers(shown.headers)
      .type('application/json; charset=utf-8')
      .send(errorBody(surface(request), shown))
  }

  const app = Fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    // Lines about a request name it themselves: a child logger for each costs more than the few lines.
    childLoggerFactory: (parent) => parent,
    genReqId: api.newId,
    bodyLimit: MAX_BODY_BYTES,
    connectionTimeout: IDLE_TIMEOUT_MS,
    requestTimeout: requestTimeoutMs,
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: requestTimeoutMs / 10,
    },
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    clientErrorHandler: answerMalformed,
    frameworkErrors: (error, request, reply) => void refuse(error, request, reply),
  }) as unknown as FastifyInstance

  const routes = routeTable(app)
  app.setErrorHandler((error, request, reply) => refuse(error, request, reply))
  app.setNotFoundHandler((request, reply) => {
    const methods = routes.methodsOf(request.url)
    if (methods.length === 0) throw new ApiError('ROUTE_NOT_FOUND', 'there is no such path')
    void reply.header('allow', methods.join(', '))
    throw new ApiError('METHOD_NOT_ALLOWED', `this path takes ${methods.join(', ')}`)
  })

  const ajv = new Ajv({ coerceTypes: true, useDefaults: true, verbose: true })
  app.setValidatorCompiler(({ schema, httpPart }) =>
    // Bodies and headers are checked by their routes, in the order and with the texts that clients know.
    httpPart === 'querystring' || httpPart === 'params' ? ajv.compile(schema as object) : () => true,
  )
  app.setSchemaErrorFormatter(parameterError)
  app.setSerializerCompiler(() => JSON.stringify)

  app.removeAllContentTypeParsers()
  app.addContentTypeParser(/^application\/(?:[\w.-]+\+)?json(?:;|$)/, { parseAs: 'buffer' }, (request, body, done) => {
    try {
      const { wholeNumbersAsTexts } = request.routeOptions.config
      const numbersAsTexts = surface(request) === 'ncmp' ? 'all' : wholeNumbersAsTexts === true ? 'whole' : 'none'
      done(null, parseJsonBody(body as Buffer, numbersAsTexts))
    } catch (error) {
      done(error as Error)
    }
  })

  app.addHook('onRequest', (request, _reply, done) => done(refusalOf(request)))
  if (site !== undefined) registerInactiveSite(app, site)
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (api.stopping.aborted) void reply.header('connection', 'close')
    done()
  })

  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Pulsefold',
        description:
          'Trust levels of cm handles: registration, queries and heartbeats as of ONAP CPS-NCMP; external platforms with the health of their addresses; and operations.',
        version: '1',
      },
    },
  })
  const runs = new Set(api.streams.processors.map(({ name }) => name))
  if (runs.has(TRUST_LEVEL)) registerNcmp(app, api)
  if (runs.has(ADDRESS_HEALTH)) registerExternalPlatforms(app, api)
  await registerEvents(app, api)
  registerOps(app, api)
  if (runs.has(TRUST_LEVEL)) registerTrustLevelOps(app, api)
  if (runs.has(KEEP_ALIVE)) await registerE2(app, api, logger)
  registerHealthCheck(app, healthCheck ?? readinessOf(api))
  if (site !== undefined) await registerSite(app, site)
  if (instances !== undefined) await registerInstances(app, instances)
  await registerAudit(app, api)
  return { app, routes }
}

function readinessOf({ streams }: Api): HealthCheck {
  return () => {
    const { ready, reasons } = streams.readiness()
    return { isUp: ready, reasons }
  }
}
