import t from 'tap'
import { isValidTransition } from './task-state.js'
import type { TaskState } from './task-state.js'

const states: readonly TaskState[] = ['CREATED', 'RESTORING', 'RUNNING', 'LIVE', 'CLOSED', 'FAILED']

t.test('the legal moves, all others being refused', async (t) => {
  const moves = states.map((from) => `${from}: ${states.filter((to) => isValidTransition(from, to)).join(' ')}`)
  t.same(moves, [
    'CREATED: RESTORING CLOSED FAILED',
    'RESTORING: RUNNING CLOSED FAILED',
    'RUNNING: LIVE CLOSED FAILED',
    'LIVE: RUNNING CLOSED FAILED',
    'CLOSED: ',
    'FAILED: CLOSED',
  ])
})
