import t from 'tap'
import { apiErrors } from '../api/errors.js'
import { inputErrors } from '../schemas/input-errors.js'
import { registryErrors } from '../schemas/registry/errors.js'
import { simulationErrors } from '../scripts/simulate/errors.js'
import { storeErrors } from '../state-stores/errors.js'
import { engineErrors } from '../topology/errors.js'
import { logErrors } from '../topology/log/errors.js'
import type { ErrorTable } from './errors.js'
import { settingsErrors } from './settings-faults.js'

/** All families: one line each. */
const families: Record<string, ErrorTable> = {
  storeErrors,
  logErrors,
  engineErrors,
  simulationErrors,
  inputErrors,
  registryErrors,
  settingsErrors,
  apiErrors,
}

t.test('each code is of one family only, in capitals, and tells the operator what to do', async (t) => {
  const owners = new Map<string, string>()
  for (const [family, table] of Object.entries(families)) {
    for (const [code, { action }] of Object.entries(table)) {
      t.equal(owners.get(code), undefined, `${code} of ${family} is nobody else's`)
      owners.set(code, family)
      t.match(code, /^[A-Z]+(_[A-Z]+)*$/)
      t.match(action, /^[A-Z].{10,}\.$/, `the action of ${code} is a sentence`)
    }
  }
  t.ok(owners.size > 10)
})
