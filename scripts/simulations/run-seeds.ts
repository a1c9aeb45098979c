import { ensureError } from '../../common/errors.js'
import type { Simulation } from './simulation.js'

export interface SeedRange {
  readonly first: number
  readonly count: number
  /** Asked before each seed. */
  readonly goesOn: () => boolean
}

export interface Telling {
  readonly say: (line: string) => void
  /** Tells of each run the hash of all that happened. */
  readonly trace: boolean
}

/** Runs seeds one after another, says of each that fails what is wrong and how to run it again; answers how many failed. */
export async function runSeeds(
  simulation: Simulation,
  { first, count, goesOn }: SeedRange,
  { say, trace }: Telling,
): Promise<number> {
  const { name } = simulation
  let run = 0
  let failed = 0
  for (let seed = first; seed < first + count && goesOn(); seed++) {
    run++
    try {
      const outcome = await simulation.run(seed)
      if (trace) say(`${name} seed ${seed}: ${outcome.trace}`)
    } catch (thrown) {
      failed++
      say(`${name} seed ${seed} failed: ${textOf(ensureError(thrown))}`)
      say(`again: ./scripts/soak ${name} --seed ${seed} --seeds 1`)
    }
  }
  say(`${name}: ${run} seeds from ${first} on, ${failed} failed`)
  return failed
}

function textOf({ message, cause }: Error): string {
  return cause === undefined ? message : `${message}\n${ensureError(cause).stack ?? ''}`
}
