import t from 'tap'
import { idHash } from './id-hash.js'

t.test('hashes are the same on every machine', async (t) => {
  t.equal(idHash(1, 'c-1'), 1726560042809346)
})

t.test('hashes are whole numbers below 2^53, and differ for ids that are alike', async (t) => {
  const seen = new Set<number>()
  const add = (hash: number): void => {
    t.ok(Number.isSafeInteger(hash) && hash >= 0)
    t.notOk(seen.has(hash))
    seen.add(hash)
  }
  for (const id of ['', 'a', 'b', 'ab', 'ba', '\u0000', '\u0000a', 'ä', '😀']) {
    add(idHash(1, id))
    add(idHash(2, id))
  }
  add(idHash(2, 'ab', 'c'))
  add(idHash(2, 'a', 'bc'))
  add(idHash(2, 'abc'))
  for (let n = 0; n < 2000; n++) add(idHash(1, `c-${n}`))
})

t.test('numbers in a row spread over all bits', async (t) => {
  const ones = new Array<number>(53).fill(0)
  const ids = 4000
  for (let n = 0; n < ids; n++) {
    const bits = idHash(1, String(n)).toString(2).padStart(53, '0')
    for (let bit = 0; bit < 53; bit++) ones[bit]! += bits[bit] === '1' ? 1 : 0
  }
  for (const [bit, count] of ones.entries()) t.ok(Math.abs(count - ids / 2) < ids / 10, `bit ${bit}: ${count}`)
})
