import t from 'tap'
import type { RowLookUp } from '../../topology/processor.js'
import { subjects } from './subjects.js'
import { rics } from './tables.js'
import { E2T, E2T_2, KeepAliveKit, RAN, RIC } from './test-kit.js'

t.test('audits ask about a RIC, and about its E2T instances and RANs, which stand in its journal', async (t) => {
  const kit = new KeepAliveKit()
  kit.init(E2T)
  kit.init(E2T_2)
  kit.setUp()
  const get: RowLookUp = (table, key) => kit.row(table, RIC, key)
  const table = [
    { subject: RIC, state: { enableRic: true, [E2T]: 'ACTIVE', [E2T_2]: 'ACTIVE' } },
    { subject: `${RIC}/${E2T}`, state: { state: 'ACTIVE' } },
    { subject: `${RIC}/${RAN}`, state: { state: 'CONNECTED', e2tAddress: E2T } },
    { subject: 'other', state: null },
    { subject: `${RIC}/other`, state: null },
  ]
  for (const { subject, state } of table) {
    t.strictSame(subjects.state(subject, get), state, subject)
    t.equal(subjects.journalKey?.(subject), subject.split('/')[0])
  }
  t.equal(subjects.relatedRows(RIC, get).filter(({ table, key }) => get(table, key) !== undefined).length, 2)
  t.equal(
    subjects.relatedRows(`${RIC}/${RAN}`, get).filter(({ table, key }) => get(table, key) !== undefined).length,
    1,
  )
  t.notOk(
    subjects.relatedRows(RIC, get).some(({ table }) => table === rics),
    'its own row is known anyway',
  )
  t.strictSame(subjects.relatedRows('other', get), [])
})
