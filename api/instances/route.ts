import { timingSafeEqual, createHash } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { answerCommandCall, answerLookUps, answerQueryCall } from '../../topology/cluster/answer-call.js'
import type { Answered } from '../../topology/cluster/answer-call.js'
import { callPaths, PROTOCOL, PROTOCOL_HEADER } from '../../topology/cluster/instance-call.js'
import type { LocalStreams } from '../../topology/cluster/local-streams.js'
import { ApiError } from '../errors.js'

export interface InstanceRoutes {
  /** Answers from what is here; never asks on. */
  readonly local: LocalStreams
  /** What other instances must show; told to the members of the group only. */
  readonly token: string
}

/** A command holds 256 KiB of text, and JSON may write a character in six. */
const MAX_CALL_BYTES = 4 * 1024 * 1024

/**
 * POST /internal/queries, /internal/look-ups and /internal/commands: what other instances of the same application ask of this one.
 * It is answered while the service stops, too: it does that when its tasks have moved, or the time for that is over, and a call
 * under way may come after. Not for clients, and in no description.
 */
export async function registerInstances(app: FastifyInstance, { local, token }: InstanceRoutes): Promise<void> {
  const isOurs = sameAs(`Bearer ${token}`)
  const check = (request: FastifyRequest): void => {
    if (!isOurs(request.headers.authorization ?? '')) {
      throw new ApiError('INSTANCE_UNKNOWN', 'only instances of this application are answered here')
    }
    const version = request.headers[PROTOCOL_HEADER]
    if (version !== String(PROTOCOL)) {
      throw new ApiError('INSTANCE_INCOMPATIBLE', `protocol ${PROTOCOL} is spoken here`)
    }
  }
  const calls = {
    query: answerQueryCall,
    lookUps: answerLookUps,
    command: answerCommandCall,
  }
  await app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, parsed) => {
      try {
        parsed(null, JSON.parse(body as string))
      } catch {
        parsed(new ApiError('BODY_MALFORMED', 'the body is not JSON'))
      }
    })
    for (const [kind, answer] of Object.entries(calls) as [keyof typeof calls, (typeof calls)[keyof typeof calls]][]) {
      scope.post(
        callPaths[kind],
        {
          config: { servedWhileStopping: true },
          bodyLimit: MAX_CALL_BYTES,
          schema: { hide: true },
          onRequest: (request, _reply, passed) => {
            check(request)
            passed()
          },
        },
        async (request) => understood<unknown>(await answer(local, request.body)),
      )
    }
    done()
  })
}

function understood<Answer>(answered: Answered<Answer>): Answer {
  if (answered.ok) return answered.answer
  throw new ApiError('INSTANCE_INCOMPATIBLE', answered.reason)
}

/** Compares in a time that tells nothing of what was expected. */
function sameAs(expected: string): (given: string) => boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  const wanted = digest(expected)
  return (given) => timingSafeEqual(digest(given), wanted)
}
