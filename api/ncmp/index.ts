import type { FastifyInstance } from 'fastify'
import type { Api } from '../api.js'
import { registerGetByDistinguishedName } from './get-by-distinguished-name.js'
import { registerGetCmHandle } from './get-cm-handle.js'
import { registerGetProperties } from './get-properties.js'
import { registerGetState } from './get-state.js'
import { registerPostRegistration } from './post-registration.js'
import { registerPutDataSync } from './put-data-sync.js'
import { registerSearchCmHandles } from './search-cm-handles.js'
import { registerPluginCmHandles, registerSearchIds } from './search-ids.js'

/** The endpoints of ONAP CPS-NCMP that are served here. (trust levels, section 1.2) */
export function registerNcmp(app: FastifyInstance, api: Api): void {
  registerSearchIds(app, api)
  registerSearchCmHandles(app, api)
  registerGetCmHandle(app, api)
  registerGetState(app, api)
  registerGetProperties(app, api)
  registerPutDataSync(app, api)
  registerPostRegistration(app, api)
  registerGetByDistinguishedName(app, api)
  registerPluginCmHandles(app, api)
}
