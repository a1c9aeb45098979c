import type { FastifyInstance } from 'fastify'
import type { Api } from '../api.js'
import { registerAddresses } from './addresses.js'
import { registerPlatforms } from './platforms.js'
import { registerSelections } from './selections.js'

/** External platforms: definitions, addresses and their health, selections for calls. (address health, section 5) */
export function registerExternalPlatforms(app: FastifyInstance, api: Api): void {
  registerPlatforms(app, api)
  registerAddresses(app, api)
  registerSelections(app, api)
}
