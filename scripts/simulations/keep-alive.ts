import { createHash } from 'node:crypto'
import assert from 'node:assert/strict'
import { SimulatedWorld } from '../../processors/keep-alive/simulated-world.js'
import type { Simulation } from './simulation.js'

export const keepAlive: Simulation = {
  name: 'keep-alive',
  about: 'E2 terminations, some of which die, and a manager that pauses, restarts, moves and lags',
  run(seed) {
    const outcome = new SimulatedWorld(seed).run()
    assert.deepEqual(outcome.faults, [])
    const trace = createHash('sha256').update(JSON.stringify(outcome)).digest('hex').slice(0, 16)
    return Promise.resolve({ trace })
  },
}
