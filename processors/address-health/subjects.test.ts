import t from 'tap'
import type { RowLookUp } from '../../topology/processor.js'
import { subjects } from './subjects.js'
import { platforms } from './tables.js'
import { AddressHealthKit, PLATFORM } from './test-kit.js'

t.test('audits ask about a platform: its addresses, with the windows that their states follow from', async (t) => {
  const kit = new AddressHealthKit()
  kit.create(['a1', 'a2'])
  kit.operate('deactivate', 1)
  kit.fail('a1')
  const get: RowLookUp = (table, key) => kit.row(table, PLATFORM, key)
  t.strictSame(subjects.state(PLATFORM, get), { a1: 'failed', a2: 'inactive' })
  t.equal(subjects.state('other', get), null)
  const related = subjects.relatedRows(PLATFORM, get)
  t.equal(related.length, 6)
  t.notOk(related.some(({ table }) => table === platforms))
  t.ok(related.some(({ table, key }) => get(table, key) !== undefined))
  t.strictSame(subjects.relatedRows('other', get), [])
})
