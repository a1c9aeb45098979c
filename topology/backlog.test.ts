import t from 'tap'
import { manualClock } from '../common/manual-clock.js'
import { Backlog } from './backlog.js'
import type { RecordBatch } from './log/log.js'

const batch = (...sizes: readonly (number | null)[]): RecordBatch => ({
  topic: 'in',
  partition: 0,
  records: sizes.map((size, offset) => {
    return { offset, timestamp: 0, key: null, value: size === null ? null : Buffer.alloc(size), headers: [] }
  }),
  next: sizes.length,
  end: sizes.length,
})

t.test('it is large while batches of many bytes together are worked on, however that ends', async (t) => {
  const backlog = new Backlog()
  let fail = (_error: Error): void => undefined
  let finish = (): void => undefined
  const first = backlog.during(batch(20_000, null), () => new Promise((_resolve, reject) => (fail = reject)))
  t.equal(backlog.isLarge, false)
  const second = backlog.during(batch(10_000, 10_000), () => new Promise((resolve) => (finish = resolve)))
  t.equal(backlog.isLarge, true)
  fail(new Error('again'))
  await t.rejects(first, { message: 'again' })
  t.equal(backlog.isLarge, false)
  finish()
  await second
})

t.test('what can wait gives way to it for half a second at most', async (t) => {
  const clock = manualClock()
  const backlog = new Backlog()
  const { signal } = new AbortController()
  let waits = 0
  const wait = (): void => {
    waits++
    void backlog.giveWay(clock, signal).then(() => waits--)
  }
  wait()
  await clock.advance(0)
  t.equal(waits, 0, 'not at all while it is small')
  let finish = (): void => undefined
  const work = (): Promise<void> => new Promise((resolve) => (finish = resolve))
  const first = backlog.during(batch(50_000), work)
  wait()
  await clock.advance(100)
  t.equal(waits, 1)
  finish()
  await first
  await clock.advance(10)
  t.equal(waits, 0)
  const second = backlog.during(batch(50_000), work)
  wait()
  await clock.advance(499)
  t.equal(waits, 1)
  await clock.advance(11)
  t.equal(waits, 0, 'a longer backlog does not hold it up for ever')
  finish()
  await second
})
