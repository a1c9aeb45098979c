import { getEventListeners } from 'node:events'
import t from 'tap'
import { sleep, systemClock, within } from './clock.js'
import { manualClock } from './manual-clock.js'

t.test('the system clock calls back once, and not after it was cancelled', async (t) => {
  const calls: string[] = []
  const before = systemClock.monotonic()
  const cancel = systemClock.setTimer(() => calls.push('cancelled'), 1)
  cancel()
  cancel()
  await new Promise<void>((resolve) => {
    systemClock.setTimer(() => {
      calls.push('fired')
      resolve()
    }, 5)
  })
  t.same(calls, ['fired'])
  t.ok(systemClock.monotonic() > before)
  t.ok(Number.isInteger(systemClock.now()))
})

t.test('a manual clock stands still until it is moved', async (t) => {
  const clock = manualClock(1_000)
  t.same([clock.now(), clock.monotonic()], [1_000, 0])
  await clock.advance(250)
  t.same([clock.now(), clock.monotonic()], [1_250, 250])
  t.equal(manualClock().now(), Date.parse('2026-01-01T00:00:00Z'))
})

t.test('a step moves the wall clock only, and no timer', async (t) => {
  const clock = manualClock(1_000)
  let isFired = false
  clock.setTimer(() => (isFired = true), 100)
  clock.stepWall(3_600_000)
  clock.stepWall(-7_200_000)
  await clock.advance(99)
  t.same([clock.now(), clock.monotonic(), isFired], [1_000 - 3_600_000 + 99, 99, false])
  await clock.advance(1)
  t.ok(isFired)
})

t.test('timers fire in the order of their times, each at its own', async (t) => {
  const clock = manualClock(0)
  const calls: [string, number][] = []
  clock.setTimer(() => calls.push(['second', clock.monotonic()]), 20)
  clock.setTimer(() => calls.push(['first', clock.monotonic()]), 10)
  const cancel = clock.setTimer(() => calls.push(['cancelled', clock.monotonic()]), 15)
  clock.setTimer(() => {
    calls.push(['again', clock.monotonic()])
    clock.setTimer(() => calls.push(['nested', clock.monotonic()]), 5)
  }, 20)
  cancel()
  await clock.advance(100)
  t.same(calls, [
    ['first', 10],
    ['second', 20],
    ['again', 20],
    ['nested', 25],
  ])
})

t.test('promise chains run between timers, and may set timers that are due in the same advance', async (t) => {
  const clock = manualClock(0)
  const woken: number[] = []
  const loop = async (): Promise<void> => {
    for (let i = 0; i < 4; i++) {
      await sleep(clock, 10)
      woken.push(clock.monotonic())
    }
  }
  const done = loop()
  await clock.advance(40)
  await done
  t.same(woken, [10, 20, 30, 40])
})

t.test('sleep ends with its signal, and leaves no timer or listener behind', async (t) => {
  const clock = manualClock(0)
  let pending = 0
  const counting = {
    ...clock,
    setTimer(callback: () => void, delayMs: number) {
      pending++
      const cancel = clock.setTimer(() => {
        pending--
        callback()
      }, delayMs)
      return () => {
        pending--
        cancel()
      }
    },
  }
  await sleep(counting, 1_000, AbortSignal.abort())
  t.equal(pending, 0, 'aborted before')

  const controller = new AbortController()
  const sleeping = sleep(counting, 1_000, controller.signal)
  t.equal(pending, 1)
  controller.abort()
  await sleeping
  t.same([pending, clock.monotonic()], [0, 0], 'aborted meanwhile')

  const { signal } = new AbortController()
  const whole = sleep(counting, 1_000, signal)
  t.equal(getEventListeners(signal, 'abort').length, 1)
  await clock.advance(1_000)
  await whole
  t.equal(getEventListeners(signal, 'abort').length, 0, 'slept to the end')
})

t.test('work is waited for within a limit, and no timer outlives it', async (t) => {
  const clock = manualClock()
  let timers = 0
  const counting = {
    ...clock,
    setTimer(callback: () => void, delayMs: number) {
      timers++
      const cancel = clock.setTimer(callback, delayMs)
      return () => {
        timers--
        cancel()
      }
    },
  }
  t.equal(await within(counting, 1000, Promise.resolve('done')), 'done')
  await t.rejects(within(counting, 1000, Promise.reject(new Error('failed'))), { message: 'failed' })
  t.equal(timers, 0)
  const late = within(counting, 1000, new Promise(() => undefined))
  await clock.advance(1000)
  t.equal(await late, undefined)
})
