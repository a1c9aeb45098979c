import type { FastifyInstance } from 'fastify'
import type { Api } from '../api.js'
import { ownErrors } from '../ops/schemas.js'
import { registerAuditCopies } from './copies.js'
import { checkAuditor } from './guard.js'
import { registerAuditQuestions } from './questions.js'
import { registerAuditTopics } from './topics.js'

/** The routes for auditors, below /audit: for bearers of the audit token, or callers on this machine while there is none. */
export async function registerAudit(app: FastifyInstance, api: Api): Promise<void> {
  await app.register((routes, _options, done) => {
    routes.addHook('onRequest', (request, _reply, next) => {
      checkAuditor(request, api.auditToken)
      next()
    })
    routes.get(
      '/audit',
      {
        schema: {
          tags: ['audit'],
          summary: 'What there is to audit: the application id and its domains with their journals',
          response: {
            200: {
              description: 'Journals by domain',
              type: 'object',
              properties: {
                applicationId: { type: 'string' },
                domains: { type: 'array', items: { type: 'object', additionalProperties: true } },
              },
            },
            ...ownErrors,
          },
        },
      },
      () => ({
        applicationId: api.applicationId,
        domains: api.streams.processors.map(({ name, foldVersion }) => ({
          name,
          foldVersion,
          journal: api.streams.journal(name),
        })),
      }),
    )
    registerAuditTopics(routes, api)
    registerAuditQuestions(routes, api)
    registerAuditCopies(routes, api)
    done()
  })
}
