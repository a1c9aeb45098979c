import fc from 'fast-check'
import type { Outcome, Simulation } from './simulation.js'
import { unlessStuck } from './unless-stuck.js'

export interface StorySimulation<Story> {
  readonly name: string
  readonly about: string
  readonly story: fc.Arbitrary<Story>
  /** Rejects where something does not hold. */
  readonly run: (story: Story) => Promise<Outcome>
}

/** One random story for each seed; of one that fails the shortest that still does is told. */
export function simulationOf<Story>({ name, about, story, run }: StorySimulation<Story>): Simulation {
  return {
    name,
    about,
    async run(seed) {
      let outcome: Outcome = { trace: '' }
      const property = fc.asyncProperty(story, async (given) => {
        outcome = await unlessStuck(run(given))
      })
      const { failed, counterexample, errorInstance } = await fc.check(property, { seed, numRuns: 1 })
      if (!failed) return outcome
      throw new Error(`with the story ${fc.stringify(counterexample?.[0])}`, { cause: errorInstance })
    },
  }
}
