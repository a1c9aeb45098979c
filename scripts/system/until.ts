import { setTimeout as pause } from 'node:timers/promises'

const POLL_MS = 20
/** Three times what the slowest bound of the cases allows for a single state. */
const PATIENCE_MS = 30_000

/** Asks until the answer is neither false nor undefined; rejects, naming `what` and the last answer, when it stays away. */
export async function until<Answer>(
  what: string,
  ask: () => Promise<Answer | false | undefined> | Answer | false | undefined,
  patienceMs = PATIENCE_MS,
): Promise<Answer> {
  const deadline = performance.now() + patienceMs
  for (;;) {
    const answer = await ask()
    if (answer !== false && answer !== undefined) return answer
    if (performance.now() > deadline) throw new Error(`not within ${patienceMs} ms: ${what}`)
    await pause(POLL_MS)
  }
}
