import t from 'tap'
import { RowCache } from './row-cache.js'

t.test('each part sees its own rows, and that one is absent', async (t) => {
  const cache = new RowCache(10_000)
  const [first, second] = [cache.part(), cache.part()]
  first.set('a', Buffer.from([0, 200, 255]))
  second.set('b', undefined)
  t.same(first.get('a'), { bytes: Buffer.from([0, 200, 255]) })
  t.equal(second.get('a'), undefined)
  t.same(second.get('b'), { bytes: undefined })
  first.set('a', Buffer.from('new'))
  t.same(first.get('a'), { bytes: Buffer.from('new') })
})

t.test('the least used rows of any part make room for those of another', async (t) => {
  const cache = new RowCache(1000)
  const [first, second] = [cache.part(), cache.part()]
  const bytes = Buffer.alloc(100)
  first.set('a', bytes)
  first.set('b', bytes)
  first.get('a')
  for (const key of ['c', 'd']) second.set(key, bytes)
  t.same(
    ['a', 'b'].map((key) => first.get(key) !== undefined),
    [true, false],
  )
  t.ok(second.get('c'))
})
