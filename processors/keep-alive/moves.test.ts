import t from 'tap'
import { E2T_STATES, e2tMoves, moved, RAN_STATES, ranMoves } from './moves.js'
import { plmnIdOf } from './plmn-id.js'

t.test('every state can be reached and left, and no move is there that the table lacks', async (t) => {
  for (const [moves, states] of [
    [e2tMoves, E2T_STATES],
    [ranMoves, RAN_STATES],
  ] as const) {
    const all = Object.entries<{ from: readonly (string | null)[]; to: string | null }>(moves)
    for (const state of [...states, null]) {
      t.ok(
        all.some(([, { to }]) => to === state),
        `${state} can be reached`,
      )
      t.ok(
        all.some(([, { from }]) => from.includes(state)),
        `${state} can be left`,
      )
    }
  }
  t.equal(moved(e2tMoves, 'fellSilent', 'ACTIVE'), 'TO_BE_DELETED')
  t.throws(() => moved(e2tMoves, 'fellSilent', 'REGISTERING'), TypeError)
  t.throws(() => moved(ranMoves, 'setUp', 'SHUTTING_DOWN'), TypeError)
})

t.test('a PLMN id is written in swapped digits, with F where there is no third', async (t) => {
  t.equal(plmnIdOf('310', '411'), '131014')
  t.equal(plmnIdOf('208', '92'), '02F829')
})
