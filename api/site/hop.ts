import type { FastifyRequest } from 'fastify'

/** Of a request that the other site has passed on: it is not passed back. */
export const HOP_HEADER = 'x-pulsefold-hop'

export const hasHopped = (request: FastifyRequest): boolean => request.headers[HOP_HEADER] !== undefined
