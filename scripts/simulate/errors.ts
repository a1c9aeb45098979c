import { PulsefoldError, type ErrorContext } from '../../common/errors.js'

export const simulationErrors = {
  SIMULATION_TARGET_NOT_LOOPBACK: {
    action: 'Run the simulation on the machine of the Pulsefold under test, and give its http address on 127.0.0.1.',
  },
  SIMULATION_NO_ANSWER: {
    action: 'Start Pulsefold (./scripts/start) or give its address with --url, then run the simulation again.',
    retryable: true,
  },
  SIMULATION_REFUSED: {
    action: 'Read the answer in the message; the simulation asks only for what every Pulsefold offers.',
  },
} as const

/** Why a simulation could not go on. */
export class SimulationError extends PulsefoldError<keyof typeof simulationErrors> {
  constructor(code: keyof typeof simulationErrors, message: string, context?: ErrorContext) {
    super(simulationErrors, code, message, context)
  }
}
