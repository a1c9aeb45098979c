import t from 'tap'
import { Tally } from './tally.js'

t.test('what is counted is told once, with how often', async (t) => {
  const tally = new Tally()
  tally.add('late', 'a')
  tally.add('late', 'b')
  tally.add('late', 'a')
  tally.add('taken', '')
  const told: unknown[] = []
  const hear = (...count: readonly unknown[]): void => void told.push(count)
  tally.tell(hear)
  t.same(told, [
    ['late', 'a', 2],
    ['late', 'b', 1],
    ['taken', '', 1],
  ])
  tally.tell(hear)
  t.equal(told.length, 3)
  tally.add('late', 'a')
  tally.tell(hear)
  t.same(told.at(-1), ['late', 'a', 1])
})
