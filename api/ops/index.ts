import type { FastifyInstance } from 'fastify'
import type { Api } from '../api.js'
import { registerDmiPlugins } from './dmi-plugins.js'
import { registerDeadLetters } from './dead-letters/index.js'
import { registerHealth } from './health.js'
import { registerMetrics } from './metrics.js'
import { registerOpenapi } from './openapi.js'
import { registerSources } from './sources.js'
import { registerTopicRecords } from './topic-records.js'
import { registerTopology } from './topology.js'
import { registerTransitions } from './transitions.js'

/** The routes for operators. */
export function registerOps(app: FastifyInstance, api: Api): void {
  registerHealth(app, api)
  registerMetrics(app, api)
  registerTopology(app, api)
  registerTopicRecords(app, api)
  registerSources(app, api)
  registerDeadLetters(app, api)
  registerOpenapi(app)
}

/** Those that belong to trust levels. */
export function registerTrustLevelOps(app: FastifyInstance, api: Api): void {
  registerDmiPlugins(app, api)
  registerTransitions(app, api)
}
