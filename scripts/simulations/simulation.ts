/** What one seed gives: the same whenever it is run. */
export interface Outcome {
  /** Hash of all that happened. */
  readonly trace: string
}

/** A simulation whose run follows from its seed alone. */
export interface Simulation {
  readonly name: string
  readonly about: string
  /** Rejects where something does not hold; the message says what, and what led there. */
  run(seed: number): Promise<Outcome>
}
