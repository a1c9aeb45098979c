import t from 'tap'
import { manualClock } from '../common/manual-clock.js'
import { EngineError } from './errors.js'
import { LogError } from './log/errors.js'
import { ownCommand } from './own-command.js'
import { pendingCommands } from './pending-commands.js'

const event = { type: 'Asked', data: {} }
const options = { commandId: 'c-1', timeoutMs: 1000 }
const unavailable = new LogError('LOG_UNAVAILABLE', 'not acknowledged')

const cases = [
  { what: 'not acknowledged', error: unavailable, reason: 'outcomeOpen' },
  { what: 'not acknowledged, then closed', error: new LogError('LOG_CLOSED', 'closed'), reason: 'outcomeOpen' },
  { what: 'too large', error: new LogError('RECORD_TOO_LARGE', 'too large'), reason: 'unavailable' },
  { what: 'unlike its schema', error: new EngineError('EVENT_REFUSED', 'refused'), reason: 'unavailable' },
] as const
for (const { what, error, reason } of cases) {
  t.test(`a command that the log refuses: ${what} is ${reason}`, async (t) => {
    const commands = pendingCommands(manualClock())
    const writer = { append: () => Promise.reject(error), stop: () => undefined }
    const result = await ownCommand({ writer, commands, topic: 'j', partition: 0, domain: 'd' }, event, options)
    t.match(result, { ok: false, reason, message: error.message })
    if (reason === 'outcomeOpen') t.match(result, { message: /repeat the request with Idempotency-Key c-1/ })
  })
}
