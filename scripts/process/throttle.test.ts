import t from 'tap'
import { manualClock } from '../../common/manual-clock.js'
import { throttle } from './throttle.js'

t.test('one line for each key and time, with the number of those left out', async (t) => {
  const clock = manualClock()
  const lines = throttle(clock, 10_000)
  t.equal(lines.pass('a'), 0)
  await clock.advance(9999)
  t.same([lines.pass('a'), lines.pass('a'), lines.pass('b')], [undefined, undefined, 0])
  await clock.advance(1)
  t.same([lines.pass('a'), lines.pass('a'), lines.pass('b')], [2, undefined, undefined])
  await clock.advance(60_000)
  t.same([lines.pass('a'), lines.pass('b')], [1, 1])
  await clock.advance(60_000)
  t.same([lines.pass('a'), lines.pass('b')], [0, 0], 'nothing was left out')
})
