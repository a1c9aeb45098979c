import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { ADDRESS_STATES } from '../../schemas/address-health/journal-events.js'
import { documentedMoves, drawingsOf } from '../documented-moves.js'
import { mayMove, moveAddress, moves } from './moves.js'
import type { Move } from './moves.js'
import type { Context } from './context.js'
import type { PlatformRow } from './tables.js'

const readme = readFileSync(
  fileURLToPath(new URL('../../../processors/address-health/README.md', import.meta.url)),
  'utf8',
)

for (const [move, { from, to }] of Object.entries(moves)) {
  t.test(`${move} leads from ${from.join(' or ')} to ${to ?? 'no state'}, and from nowhere else`, async (t) => {
    for (const state of ADDRESS_STATES) {
      const isLegal = (from as readonly string[]).includes(state)
      t.equal(mayMove(state, move as Move), isLegal)
      if (isLegal) continue
      const row = { addresses: [{ state }] } as unknown as PlatformRow
      const platform = { name: 'p', row, before: row }
      t.throws(() => moveAddress(platform, 0, move as Move, {} as Context), RangeError)
    }
  })
}

t.test("the page's table is the code's, and its drawing has all states and moves", async (t) => {
  const documented = documentedMoves(readme)
  t.strictSame(Object.fromEntries(documented), moves)
  const [drawing = ''] = drawingsOf(readme)
  for (const state of ADDRESS_STATES) t.match(drawing, state)
  for (const move of documented.keys()) if (move !== 'REMOVED') t.match(drawing, move)
})
