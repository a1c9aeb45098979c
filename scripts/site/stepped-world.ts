import { manualClock } from '../../common/manual-clock.js'
import type { ManualClock } from '../../common/manual-clock.js'

const TURNS = 12
const STEP_MS = 50

/** A clock that a test moves in steps, and all that follows from it. */
export class SteppedWorld {
  readonly clock: ManualClock = manualClock()
  /** What was said to be wrong. */
  readonly errors: string[] = []
  /** Called after each step of the clock. */
  onStep: () => void = () => undefined

  /** How things stand, for what was waited for in vain. */
  tell(): string {
    return ''
  }

  /** Lets time pass, and all that follows from it. */
  async advance(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += STEP_MS) {
      await this.clock.advance(STEP_MS)
      for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve))
      this.onStep()
    }
  }

  /** Lets time pass until the work is done. */
  async while<Result>(work: Promise<Result>): Promise<Result> {
    const state = { isDone: false }
    const settled = work.finally(() => (state.isDone = true))
    settled.catch(() => undefined)
    for (let step = 0; !state.isDone; step++) {
      if (step > 20_000) throw new Error('not done within 1,000 s of the clock')
      await this.advance(STEP_MS)
    }
    return settled
  }

  /** Until the work has ended, either way; or for so long: what a process has promised that is killed meanwhile never ends. */
  async attempt(work: Promise<unknown>, limitMs = 20_000): Promise<void> {
    let cancel = (): void => undefined
    const limit = new Promise<void>((resolve) => (cancel = this.clock.setTimer(resolve, limitMs)))
    await this.while(Promise.race([work.catch(() => undefined), limit]))
    cancel()
  }

  async until(what: string, holds: () => boolean, limitMs = 120_000): Promise<void> {
    for (let passed = 0; !holds(); passed += STEP_MS) {
      if (passed > limitMs) {
        throw new Error(`not within ${limitMs} ms: ${what}\n${this.tell()}\n${this.errors.slice(-5).join('\n')}`)
      }
      await this.advance(STEP_MS)
    }
  }
}
