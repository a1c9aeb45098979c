import Fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import type { PeerRequest } from '../../topology/cluster/peers.js'
import { publicError } from '../http-status.js'
import { callHeaders } from './peer-transport.js'
import { registerInstances } from './route.js'
import type { InstanceRoutes } from './route.js'

/** What other instances may ask of this one, answered by its routes as over HTTP but without a socket; for simulations. */
export async function instanceInProcess(
  routes: InstanceRoutes,
): Promise<(request: PeerRequest) => Promise<{ readonly status: number; readonly body: string }>> {
  let requests = 0
  const app = Fastify({ genReqId: () => `request-${++requests}` }) as unknown as FastifyInstance
  app.setErrorHandler((error, request, reply) => {
    const { status, message } = publicError(error, request.id)
    return reply.status(status).send({ message })
  })
  app.setSerializerCompiler(() => JSON.stringify)
  await registerInstances(app, routes)
  await app.ready()
  return async ({ path, token, body }) => {
    const answer = await app.inject({ method: 'POST', url: path, headers: callHeaders(token), body })
    return { status: answer.statusCode, body: answer.body }
  }
}
