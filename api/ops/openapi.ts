import type { FastifyInstance } from 'fastify'

/** GET /openapi.json, made of the schemas of all routes. */
export function registerOpenapi(app: FastifyInstance): void {
  app.get(
    '/openapi.json',
    {
      schema: {
        tags: ['operations'],
        summary: 'This description',
        response: { 200: { description: 'OpenAPI 3.1', type: 'object', additionalProperties: true } },
      },
    },
    () => app.swagger(),
  )
}
