import type { FastifyInstance } from 'fastify'
import { sleep } from '../../common/clock.js'
import { keepAliveQueries } from '../../processors/keep-alive/index.js'
import type { Api } from '../api.js'
import { clientGone } from '../client-gone.js'
import { E2Error } from './errors.js'
import { objectOf } from './json.js'
import { ask, checkContentType, command, route, sendJson } from './route.js'
import type { E2Request } from './route.js'

/** Upstream reads no more of the body. */
const HEALTH_BODY_BYTES = 2000
/** Between two looks at whether all RANs are shut down. */
const POLL_MS = 50

/** What operators do to a RIC as a whole. (keep-alive, section 2) */
export function registerRic(app: FastifyInstance, api: Api): void {
  route(
    app,
    api,
    'put',
    '/nodeb/shutdown',
    'Red Button: shuts all RANs down; answers when all are',
    async (request) => {
      const event = { type: 'RedButtonPressed', data: { ric: request.ric } } as const
      const { answer } = await command(request, event, 'E2_MESSAGE_NOT_SENT')
      if (answer.due !== 0) await untilShutDown(request)
      return void request.reply.status(204).send()
    },
  )

  route(app, api, 'put', '/nodeb/parameters', 'Lets the RIC take setups, or refuse them', async (request) => {
    const { enableRic, ...unknown } = objectOf(request.request.body)
    if (typeof enableRic !== 'boolean' || Object.keys(unknown).length > 0) throw new E2Error('E2_CORRUPTED_JSON')
    const event = { type: 'RicParametersSet', data: { ric: request.ric, enableRic } } as const
    return (await command(request, event)).answer
  })

  route(app, api, 'put', '/nodeb/health', 'Asks connected RANs for a sign of life', async (request) => {
    checkContentType(request)
    const { body } = request.request
    const members = objectOf(Buffer.isBuffer(body) ? body.subarray(0, HEALTH_BODY_BYTES) : body)
    const ranList = members['ranList'] ?? []
    if (!isTextList(ranList)) throw new E2Error('E2_CORRUPTED_JSON')
    const ranNames = ranList.length === 0 ? null : ranList
    const event = { type: 'RanHealthAsked', data: { ric: request.ric, ranNames } } as const
    const { answer } = await command(request, event)
    if (answer.asked === 0) throw new E2Error('E2_NO_CONNECTED_RAN')
    return void sendJson(request.reply.status(202), { message: 'Request Accepted' })
  })
}

/** The caller waits for the second phase, as upstream's does; one who leaves, or a stop, ends the wait and not the phase. */
async function untilShutDown(request: E2Request): Promise<void> {
  const { api, reply, ric } = request
  const signal = AbortSignal.any([clientGone(reply), api.stopping])
  while (!signal.aborted && (await ask(request, keepAliveQueries.ric, { ric }, {})).isShuttingDown) {
    await sleep(api.clock, POLL_MS, signal)
  }
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}
