import type { FastifyInstance } from 'fastify'
import type { Api } from '../../api.js'
import { registerDeadLetterList } from './list.js'
import { registerResend } from './resend.js'
import { registerDeadLetter } from './show.js'

/** What could not be taken: to be listed, read, and sent again. */
export function registerDeadLetters(app: FastifyInstance, api: Api): void {
  registerDeadLetterList(app, api)
  registerDeadLetter(app, api)
  registerResend(app, api)
}
