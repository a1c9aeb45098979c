import type { Clock } from '../common/clock.js'
import type { CommandAnswer } from './task/environment.js'

/** Callers that wait for what a command's fold says. */
export interface PendingCommands {
  /** Resolves with the answer; `late` when `timeoutMs` have gone by, `moved` when its task was taken away before. */
  wait(commandId: string, task: string, timeoutMs: number): Promise<CommandAnswer | 'late' | 'moved'>
  answered(answer: CommandAnswer): void
  /** No more answers come from this task here. */
  moved(task: string): void
  /** Ends all waiting, unanswered. */
  stop(): void
}

export function pendingCommands(clock: Clock): PendingCommands {
  interface Caller {
    readonly task: string
    done(answered: CommandAnswer | 'late' | 'moved'): void
  }
  const waiting = new Map<string, Set<Caller>>()
  const all = (): Caller[] => [...waiting.values()].flatMap((callers) => [...callers])
  return {
    wait: (commandId, task, timeoutMs) =>
      new Promise((resolve) => {
        const callers = waiting.get(commandId) ?? new Set()
        waiting.set(commandId, callers)
        const caller: Caller = {
          task,
          done(answered) {
            cancel()
            callers.delete(caller)
            if (callers.size === 0) waiting.delete(commandId)
            resolve(answered)
          },
        }
        const cancel = clock.setTimer(() => caller.done('late'), timeoutMs)
        callers.add(caller)
      }),
    answered(answer) {
      for (const caller of [...(waiting.get(answer.commandId) ?? [])]) caller.done(answer)
    },
    moved(task) {
      for (const caller of all()) if (caller.task === task) caller.done('moved')
    },
    stop() {
      for (const caller of all()) caller.done('late')
    },
  }
}
