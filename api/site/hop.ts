import type { FastifyRequest } from 'fastify'

/** Of a request that the other site has passed on: it is not passed back. */
export const HOP_HEADER = 'x-pulsefold-hop'
/** Of one that another instance of this site has passed on. */
export const INSTANCE_HOP_HEADER = 'x-pulsefold-instance-hop'

export const hasHopped = (request: FastifyRequest): boolean => request.headers[HOP_HEADER] !== undefined
export const isFromInstance = (request: FastifyRequest): boolean => request.headers[INSTANCE_HOP_HEADER] !== undefined
