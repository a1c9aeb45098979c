import type { FastifyInstance } from 'fastify'
import { keepAliveQueries } from '../../processors/keep-alive/index.js'
import type { KeepAliveEvent, NodebAnswer } from '../../schemas/keep-alive/journal-events.js'
import { isName } from '../../schemas/keep-alive/refusal.js'
import type { Position } from '../../topology/streams.js'
import type { Api } from '../api.js'
import { checkCells, checkEnb } from './configurations.js'
import { E2Error } from './errors.js'
import type { E2ErrorCode } from './errors.js'
import { listIn, numberIn, objectIn, objectOf, textIn } from './json.js'
import { ask, checkContentType, command, ranNameOf, route, sendJson } from './route.js'
import type { E2Request } from './route.js'
import { nodebInfo } from './shapes.js'

/** What operators do to RANs. (keep-alive, section 2) */
export function registerNodebs(app: FastifyInstance, api: Api): void {
  route(app, api, 'post', '/nodeb/enb', 'Adds an eNB', async (request) => {
    checkContentType(request)
    const body = objectOf(request.request.body)
    const ranName = textIn(body, 'ranName')
    const globalNbId = objectIn(body, 'globalNbId')
    const plmnId = textIn(globalNbId, 'plmnId')
    const nbId = textIn(globalNbId, 'nbId')
    const enb = objectIn(body, 'enb')
    if (!isName(ranName) || plmnId === '' || nbId === '') throw new E2Error('E2_VALIDATION')
    checkEnb(enb)
    const ip = textIn(body, 'ip')
    const port = numberIn(body, 'port')
    const data = { ric: request.ric, ranName, plmnId, nbId, ip, port, enb: JSON.stringify(enb) }
    const position = await done(request, { type: 'EnbAdded', data })
    return void sendJson(request.reply.status(201), await infoAt(request, ranName, position))
  })

  route(app, api, 'put', '/nodeb/enb/:ranName', 'Replaces the configuration of an eNB', async (request) => {
    checkContentType(request)
    const enb = objectIn(objectOf(request.request.body), 'enb')
    checkEnb(enb)
    return update(request, 'ENB', enb)
  })

  route(app, api, 'put', '/nodeb/gnb/:ranName', 'Replaces the served cells of a gNB', async (request) => {
    checkContentType(request)
    const servedNrCells = listIn(objectOf(request.request.body), 'servedNrCells')
    checkCells(servedNrCells)
    return update(request, 'GNB', { servedNrCells })
  })

  route(
    app,
    api,
    'delete',
    '/nodeb/enb/:ranName',
    'Deletes an eNB that was added and never set up',
    async (request) => {
      checkContentType(request)
      const ranName = ranNameOf(request)
      await done(request, { type: 'EnbDeleted', data: { ric: request.ric, ranName } })
      return void request.reply.status(204).send()
    },
  )
}

async function update(request: E2Request, nodeType: 'ENB' | 'GNB', configuration: object): Promise<unknown> {
  const ranName = ranNameOf(request)
  const data = { ric: request.ric, ranName, nodeType, configuration: JSON.stringify(configuration) }
  const position = await done(request, { type: 'NodebUpdated', data })
  return infoAt(request, ranName, position)
}

const refusals: Readonly<Record<Extract<NodebAnswer, { done: false }>['why'], E2ErrorCode>> = {
  notFound: 'E2_NOT_FOUND',
  exists: 'E2_NODEB_EXISTS',
  notAllowed: 'E2_VALIDATION',
  internal: 'E2_INTERNAL',
}

async function done(
  request: E2Request,
  event: Extract<KeepAliveEvent, { type: 'EnbAdded' | 'NodebUpdated' | 'EnbDeleted' }>,
): Promise<Position> {
  const { answer, position } = await command(request, event)
  if (!answer.done) throw new E2Error(refusals[answer.why])
  return position
}

/** The RAN as the command has left it, or later. */
async function infoAt(request: E2Request, ranName: string, position: Position): Promise<unknown> {
  const demand = { minPositions: [position] }
  const view = await ask(request, keepAliveQueries.nodeb, { ric: request.ric, ranName }, demand)
  if (view === null) throw new E2Error('E2_NOT_FOUND')
  return nodebInfo(view)
}
