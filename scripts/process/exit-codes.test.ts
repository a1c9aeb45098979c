import t from 'tap'
import { ArchiveError } from '../../topology/archive/errors.js'
import { LogError } from '../../topology/log/errors.js'
import { OperatorError } from '../commands/operator-errors.js'
import { SimulationError } from '../simulate/errors.js'
import { exitCodeOf, explain } from './exit-codes.js'

t.test(
  'a Pulsefold that does not answer a command is missing, and told as such whatever the socket says',
  async (t) => {
    for (const code of ['ECONNREFUSED', 'ENOTFOUND', 'EACCES']) {
      const cause = Object.assign(new Error(`getaddrinfo ${code} nowhere`), { code })
      for (const error of [
        new OperatorError('PULSEFOLD_NOT_REACHED', 'no answer from "http://nowhere"', { cause }),
        new SimulationError('SIMULATION_NO_ANSWER', 'no answer from "http://nowhere"', { cause }),
      ]) {
        t.equal(exitCodeOf(error), 69, `${error.code} ${code}`)
        t.match(explain(error), /^no answer from "http:\/\/nowhere"\. Start Pulsefold /, `${error.code} ${code}`)
      }
    }
  },
)

t.test('files that are damaged, and an archive of something else, are told apart from errors inside', async (t) => {
  t.equal(exitCodeOf(new ArchiveError('ARCHIVE_DAMAGED', 'one is not as it was written')), 65)
  t.equal(exitCodeOf(new Error('while reading', { cause: new LogError('LOG_DAMAGED', 'a row is no batch') })), 65)
  t.equal(exitCodeOf(new ArchiveError('ARCHIVE_OTHER', 'it is of another application')), 64)
  t.equal(exitCodeOf(new Error('inside')), 70)
})
