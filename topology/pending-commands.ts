import type { Clock } from '../common/clock.js'
import type { CommandAnswer } from './task/environment.js'

/** Callers that wait for what a command's fold says. */
export interface PendingCommands {
  /** Resolves with the answer, or undefined when `timeoutMs` have gone by. */
  wait(commandId: string, timeoutMs: number): Promise<CommandAnswer | undefined>
  answered(answer: CommandAnswer): void
  /** Ends all waiting, unanswered. */
  stop(): void
}

export function pendingCommands(clock: Clock): PendingCommands {
  type Resolve = (answered: CommandAnswer | undefined) => void
  const waiting = new Map<string, Set<Resolve>>()
  return {
    wait: (commandId, timeoutMs) =>
      new Promise((resolve) => {
        const callers = waiting.get(commandId) ?? new Set()
        waiting.set(commandId, callers)
        const done: Resolve = (answered) => {
          cancel()
          callers.delete(done)
          if (callers.size === 0) waiting.delete(commandId)
          resolve(answered)
        }
        const cancel = clock.setTimer(() => done(undefined), timeoutMs)
        callers.add(done)
      }),
    answered(answer) {
      for (const done of [...(waiting.get(answer.commandId) ?? [])]) done(answer)
    },
    stop() {
      for (const callers of [...waiting.values()]) for (const done of [...callers]) done(undefined)
    },
  }
}
