import type { FastifyInstance } from 'fastify'
import { keepAliveQueries } from '../../processors/keep-alive/index.js'
import type { E2tInstanceView } from '../../processors/keep-alive/views.js'
import type { Api } from '../api.js'
import { E2Error } from './errors.js'
import { ask, ranNameOf, route } from './route.js'
import { nbIdentity, nodebInfo } from './shapes.js'

/** The questions of the E2 Manager's interface. (keep-alive, section 2) */
export function registerReads(app: FastifyInstance, api: Api): void {
  route(app, api, 'get', '/health', 'Whether the RIC can be asked: an empty body', async (request) => {
    try {
      await ask(request, keepAliveQueries.health, { ric: request.ric })
    } catch (error) {
      // Upstream's probe knows but these two.
      if (!(error instanceof E2Error)) throw error
      return void request.reply.status(500).send()
    }
    return void request.reply.send()
  })

  route(app, api, 'get', '/e2t/list', 'E2T instances with their RANs', async (request) => {
    return listOf(await ask(request, keepAliveQueries.e2tInstances, { ric: request.ric }))
  })

  route(
    app,
    api,
    'get',
    '/e2t/selection',
    'The active instance with the fewest RANs; reserves nothing',
    async (request) => {
      const selected = await ask(request, keepAliveQueries.selection, { ric: request.ric })
      if (selected === null) throw new E2Error('E2_NO_INSTANCE')
      return selected
    },
  )

  route(app, api, 'get', '/nodeb/states', 'All RANs with their connection status', async (request) => {
    return (await ask(request, keepAliveQueries.rans, { ric: request.ric })).map(nbIdentity)
  })

  route(app, api, 'get', '/nodeb/states/:ranName', 'A RAN with its connection status', async (request) => {
    const view = await ask(request, keepAliveQueries.nodeb, { ric: request.ric, ranName: ranNameOf(request) })
    if (view === null) throw new E2Error('E2_NOT_FOUND')
    return nbIdentity(view.ran)
  })

  route(app, api, 'get', '/nodeb/:ranName', 'All about a RAN', async (request) => {
    const view = await ask(request, keepAliveQueries.nodeb, { ric: request.ric, ranName: ranNameOf(request) })
    if (view === null) throw new E2Error('E2_NOT_FOUND')
    return nodebInfo(view)
  })

  route(app, api, 'get', '/symptomdata', 'All that is known, as an attachment', async (request) => {
    const { ric } = request
    const instances = await ask(request, keepAliveQueries.e2tInstances, { ric })
    const nodebs = await ask(request, keepAliveQueries.nodebs, { ric })
    void request.reply.header('content-disposition', 'attachment; filename=symptomdata.json')
    return {
      e2TList: listOf(instances),
      nodeBList: nodebs.map(({ ran }) => nbIdentity(ran)),
      nodeBInfo: nodebs.map(nodebInfo),
    }
  })
}

function listOf(instances: readonly E2tInstanceView[]): unknown {
  return instances.map(({ e2tAddress, ranNames }) => ({ e2tAddress, ranNames }))
}
