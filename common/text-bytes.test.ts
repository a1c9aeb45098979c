import t from 'tap'
import { textBytes } from './text-bytes.js'

t.test('all texts count, in bytes, and every other member a little', async (t) => {
  t.equal(textBytes('abc'), 5)
  t.equal(textBytes('网'), 5)
  t.equal(textBytes(['ab', { name: 'cd', value: null }]), 4 + 4 + (4 + 4 + 8))
  for (const value of [null, 7, true, undefined]) t.equal(textBytes(value), 8)
  const nested = { list: Array.from({ length: 100 }, () => ({ value: 'x'.repeat(1000) })) }
  t.ok(textBytes(nested) > 100_000 && textBytes(nested) < 110_000)
})
