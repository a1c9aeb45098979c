import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { inputErrors } from '../../schemas/input-errors.js'

const readme = readFileSync(
  fileURLToPath(new URL('../../../processors/trust-level/README.md', import.meta.url)),
  'utf8',
)

t.test('the page for plugin developers names each code by which an event is refused, and no other', async (t) => {
  const named = [...readme.matchAll(/^\| `([A-Z0-9_]+)` /gm)].map(([, code]) => code)
  t.same(named, Object.keys(inputErrors))
})
