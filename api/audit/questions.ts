import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Audit } from '../../topology/audit/audit.js'
import { explain } from '../../topology/audit/explain.js'
import type { Moment } from '../../topology/audit/moment.js'
import { parsePositions, parseTime } from '../../topology/audit/moment-text.js'
import { stateAt } from '../../topology/audit/state-at.js'
import type { Api } from '../api.js'
import { clientWaits } from '../client-gone.js'
import { createGate } from '../gate.js'
import { ownErrors } from '../ops/schemas.js'

interface Route {
  Querystring: { key: string; at?: string; position?: string; limit: number; every: boolean; domain?: string }
}

/** Audits at work at once: each folds a journal. */
const AUDITS_AT_ONCE = 1

const querystring = {
  type: 'object',
  required: ['key'],
  properties: {
    key: { type: 'string', description: 'A cm handle, a DMI plugin, an alternate id: whatever is kept by that text' },
    at: { type: 'string', description: 'A time: ISO 8601 with its zone, or ms; absent: now' },
    position: { type: 'string', description: 'In its place: the positions that an answer carried' },
    domain: { type: 'string', description: 'Absent: all' },
    every: { type: 'boolean', default: false, description: 'Also steps that changed nothing of the state' },
    limit: { type: 'integer', minimum: 1, maximum: 1000, default: 20, description: 'Newest steps told' },
  },
}
const answer = { 200: { description: 'As the command with --json', type: ['object', 'array'] }, ...ownErrors }

/**
 * GET /audit/state and /audit/explain: the commands of these names, for one key. They fold the journal of its partition, where there is an
 * archive from its nearest snapshot.
 */
export function registerAuditQuestions(app: FastifyInstance, api: Api): void {
  const { streams, applicationId, auditSource, openAuditStore: openStore, peerJournal } = api
  const { processors } = streams
  const gate = createGate(AUDITS_AT_ONCE)
  const run = <Result>(reply: FastifyReply, work: (audit: Audit) => Promise<Result>): Promise<Result> => {
    const signal = clientWaits(reply)
    return gate.run(signal, async () => {
      return work({ source: await auditSource(), applicationId, processors, openStore, peerJournal, signal })
    })
  }
  const scope = ({ key, domain }: Route['Querystring']) => ({
    subject: key,
    ...(domain !== undefined && { domains: [domain] }),
  })

  app.get<Route>(
    '/audit/state',
    {
      schema: {
        tags: ['audit'],
        summary: 'What was true of a key, and what we answered',
        querystring,
        response: answer,
      },
    },
    ({ query }, reply) => {
      const { subject, ...rest } = scope(query)
      const request = { question: { kind: 'subject' as const, subject }, at: momentOf(query), ...rest }
      return run(reply, (audit) => stateAt(audit, request))
    },
  )
  app.get<Route>(
    '/audit/explain',
    {
      schema: { tags: ['audit'], summary: 'The records that led to the state of a key', querystring, response: answer },
    },
    ({ query }, reply) => {
      const request = { ...scope(query), at: momentOf(query), limit: query.limit, every: query.every }
      return run(reply, (audit) => explain(audit, request))
    },
  )
}

function momentOf({ at, position }: Route['Querystring']): Moment {
  if (position !== undefined) return { kind: 'positions', positions: parsePositions(position) }
  return at === undefined ? { kind: 'end' } : { kind: 'time', time: parseTime(at) }
}
