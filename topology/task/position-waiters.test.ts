import t from 'tap'
import { PositionWaiters } from './position-waiters.js'

const settle = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve))

t.test('a caller is woken when its record is folded, not before', async (t) => {
  const waiters = new PositionWaiters()
  const woken: number[] = []
  const { signal } = new AbortController()
  for (const offset of [5, 6, 7]) void waiters.wait(offset, signal).then(() => woken.push(offset))
  waiters.folded(5)
  await settle()
  t.same(woken, [])
  waiters.folded(7)
  await settle()
  t.same(woken, [5, 6])
  waiters.wakeAll()
  await settle()
  t.same(woken, [5, 6, 7])
  t.equal(waiters.size, 0)
})

t.test('a caller that waits no longer is forgotten', async (t) => {
  const waiters = new PositionWaiters()
  const waiting = new AbortController()
  const wait = waiters.wait(2 ** 50, waiting.signal)
  t.equal(waiters.size, 1)
  waiting.abort()
  await wait
  await waiters.wait(2 ** 50, waiting.signal)
  t.equal(waiters.size, 0)
})
