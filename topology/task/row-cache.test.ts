import t from 'tap'
import { RowCache } from './row-cache.js'

t.test('each part sees its own rows, and that one is absent', async (t) => {
  const cache = new RowCache(10_000)
  const [first, second] = [cache.part(), cache.part()]
  first.set('a', 'row')
  second.set('b', '')
  t.equal(first.get('a'), 'row')
  t.equal(second.get('a'), undefined)
  t.equal(second.get('b'), '')
  first.set('a', 'new')
  t.equal(first.get('a'), 'new')
})

t.test('what was not used for half of the bound makes room, whatever part it is in', async (t) => {
  const cache = new RowCache(1000)
  const [first, second] = [cache.part(), cache.part()]
  const text = 'r'.repeat(100)
  for (const key of ['a', 'b', 'c']) first.set(key, text)
  t.equal(first.get('a'), text, 'used again')
  for (const key of ['d', 'e', 'f']) second.set(key, text)
  t.same(
    ['a', 'b', 'c'].map((key) => first.get(key) !== undefined),
    [true, false, false],
  )
  t.equal(second.get('f'), text)
})

t.test('a row put again takes its own place, not more', async (t) => {
  const part = new RowCache(1000).part()
  part.set('a', 'first')
  for (let i = 0; i < 100; i++) part.set('b', `b${i % 10}`)
  t.equal(part.get('a'), 'first')
})
