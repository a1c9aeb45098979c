import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { ADDRESS_STATES } from '../../schemas/address-health/journal-events.js'
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

t.test('the page shows each legal move', async (t) => {
  for (const [move, { from, to }] of Object.entries(moves)) {
    t.ok(readme.includes(`| \`${move}\``), move)
    const line = readme.split('\n').find((text) => text.includes(`| \`${move}\``)) ?? ''
    for (const state of from) t.ok(line.includes(state), `${move} from ${state}`)
    if (to !== null) t.ok(line.includes(to), `${move} to ${to}`)
  }
})
