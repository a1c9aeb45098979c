/**
 * A task's life.
 *
 *   CREATED ──> RESTORING ──> RUNNING ──> LIVE
 *      │            │         │  ▲ │        │
 *      │            │         │  └─┼────────┤ (outdone: another owner was read)
 *      └────────────┴────────>│    ▼        ▼
 *                             └> CLOSED <───┘      FAILED from any but CLOSED
 *
 * RUNNING folds the journal and answers as a standby does; LIVE has read its own owner record back as the newest: it answers
 * as owner, fires timers and carries out effects. FAILED keeps the reason, answers 503, and never resumes by itself.
 */
export type TaskState = 'CREATED' | 'RESTORING' | 'RUNNING' | 'LIVE' | 'CLOSED' | 'FAILED'

const successors: Readonly<Record<TaskState, readonly TaskState[]>> = {
  CREATED: ['RESTORING', 'CLOSED', 'FAILED'],
  RESTORING: ['RUNNING', 'CLOSED', 'FAILED'],
  RUNNING: ['LIVE', 'CLOSED', 'FAILED'],
  LIVE: ['RUNNING', 'CLOSED', 'FAILED'],
  CLOSED: [],
  FAILED: ['CLOSED'],
}

export function isValidTransition(from: TaskState, to: TaskState): boolean {
  return successors[from].includes(to)
}
