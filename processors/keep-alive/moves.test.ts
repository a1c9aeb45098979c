import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { documentedMoves, drawingsOf } from '../documented-moves.js'
import type { DocumentedMove } from '../documented-moves.js'
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

t.test("the page's tables are the code's, and its drawings have all states", async (t) => {
  const page = readFileSync(fileURLToPath(new URL('../../../processors/keep-alive/README.md', import.meta.url)), 'utf8')
  const sorted = ({ from, to }: DocumentedMove): DocumentedMove => ({ from: [...from].sort(), to })
  const all = Object.entries<DocumentedMove>({ ...e2tMoves, ...ranMoves })
  const documented = documentedMoves(page)
  t.strictSame([...documented.keys()].sort(), all.map(([move]) => move).sort())
  for (const [move, legal] of all) t.strictSame(sorted(documented.get(move) ?? legal), sorted(legal), move)
  const [ofInstance = '', ofRan = ''] = drawingsOf(page)
  for (const state of E2T_STATES) t.match(ofInstance, state)
  for (const state of RAN_STATES) t.match(ofRan, state)
})

t.test('a PLMN id is written in swapped digits, with F where there is no third', async (t) => {
  t.equal(plmnIdOf('310', '411'), '131014')
  t.equal(plmnIdOf('208', '92'), '02F829')
})
