import t from 'tap'
import { manualClock } from '../../common/manual-clock.js'
import { Staleness } from './staleness.js'

t.test('the age is that of the newest end that was reached; before the first it is not known', async (t) => {
  const clock = manualClock()
  const staleness = new Staleness(clock)
  const look = (end: number): void => staleness.ended(end, clock.monotonic())
  t.equal(staleness.ms, Number.MAX_SAFE_INTEGER)
  look(10)
  await clock.advance(100)
  look(20)
  await clock.advance(100)
  look(30)
  staleness.reached(9)
  t.equal(staleness.knownAt, undefined)
  staleness.reached(25)
  t.equal(staleness.ms, 100, 'as of the look that saw 20')
  await clock.advance(50)
  t.equal(staleness.ms, 150)
  staleness.reached(30)
  t.equal(staleness.ms, 50)
})

t.test('an end that does not move is reached as of the last look', async (t) => {
  const clock = manualClock()
  const staleness = new Staleness(clock)
  for (let i = 0; i < 3; i++) {
    staleness.ended(5, clock.monotonic())
    await clock.advance(100)
  }
  staleness.reached(5)
  t.equal(staleness.ms, 100)
  staleness.reachedEnd(clock.monotonic())
  t.equal(staleness.ms, 0)
})

t.test('a copy that never gets there remembers no more ends than so many, and the first of them', async (t) => {
  const clock = manualClock()
  const staleness = new Staleness(clock)
  const start = clock.monotonic()
  for (let i = 1; i <= 1000; i++) {
    staleness.ended(i, clock.monotonic())
    await clock.advance(1)
  }
  staleness.reached(1)
  t.equal(staleness.knownAt, start)
  staleness.reached(1000)
  t.equal(staleness.knownAt, start + 63)
})
