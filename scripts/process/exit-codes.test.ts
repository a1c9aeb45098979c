import t from 'tap'
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
