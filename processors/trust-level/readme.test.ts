import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { inputErrors } from '../../schemas/input-errors.js'
import { trustLevelErrors } from './errors.js'

const readme = readFileSync(
  fileURLToPath(new URL('../../../processors/trust-level/README.md', import.meta.url)),
  'utf8',
)

t.test('the page for plugin developers names each code by which an event is refused, and no other', async (t) => {
  const named = [...readme.matchAll(/^\| `([A-Z0-9_]+)` /gm)].map(([, code]) => code)
  t.same(named, Object.keys(inputErrors))
})

t.test('the page names each code by which a report is given up after it was taken', async (t) => {
  for (const code of Object.keys(trustLevelErrors)) t.ok(readme.includes(`\`${code}\``), code)
})
