import t from 'tap'
import type { Test } from 'tap'
import { manualClock } from '../../common/manual-clock.js'
import { ComponentHealth } from './component-health.js'
import { logProbe } from './log-probe.js'

const INTERVAL_MS = 5000

/** Well, and checked again and again until the test ends. */
async function health(t: Test) {
  const manual = manualClock()
  const world = {
    troubles: [] as string[],
    probeLog: (): Promise<unknown> => Promise.resolve(),
    /** ms by which the next timer comes late. */
    blockedMs: 0,
    advance: (ms: number) => manual.advance(ms),
  }
  let lateMs = 0
  const checked = new ComponentHealth({
    clock: {
      ...manual,
      monotonic: () => manual.monotonic() + lateMs,
      setTimer: (callback, delayMs) =>
        manual.setTimer(() => {
          lateMs += world.blockedMs
          callback()
        }, delayMs),
    },
    intervalMs: INTERVAL_MS,
    troubles: () => world.troubles,
    probeLog: () => world.probeLog(),
  })
  t.same([checked.isHealthy, checked.hasFailed], [false, false], 'nothing is known at first')
  const stop = new AbortController()
  const running = checked.run(stop.signal)
  t.teardown(async () => {
    stop.abort()
    await manual.advance(2 * INTERVAL_MS)
    await running
  })
  await manual.advance(0)
  t.ok(checked.isHealthy, 'the first good check decides alone')
  return { checked, world }
}

t.test('three checks in a row turn it either way; what alternates does not', async (t) => {
  for (const [checks, isHealthy] of [
    ['--', true],
    ['---', false],
    ['--+--+--', true],
    ['-+-+-+-+-+', true],
    ['---++', false],
    ['---+++', true],
    ['---++-++-', false],
  ] as const) {
    const { checked, world } = await health(t)
    for (const check of checks) {
      world.troubles = check === '+' ? [] : ['the disk is full']
      await world.advance(INTERVAL_MS)
    }
    t.same([checked.isHealthy, checked.hasFailed], [isHealthy, !isHealthy], checks)
    t.same(checked.reasons, isHealthy ? [] : ['the disk is full'], checks)
  }
})

t.test('a log that refuses, or is silent for five seconds, is a bad check', async (t) => {
  for (const [probe, reason] of [
    [() => Promise.reject(new Error('refused')), 'the log: refused'],
    [() => new Promise(() => undefined), 'the log did not answer within 5000 ms'],
  ] as const) {
    const { checked, world } = await health(t)
    world.probeLog = probe
    await world.advance(3 * (INTERVAL_MS + 5000) - 1)
    t.same([checked.isHealthy, checked.reasons], reason.includes('refused') ? [false, [reason]] : [true, []])
    await world.advance(1)
    t.same([checked.isHealthy, checked.reasons], [false, [reason]])
  }
})

t.test('a timer that comes more than a second late, for a blocked event loop does that, is a bad check', async (t) => {
  for (const [blockedMs, reasons] of [
    [1000, []],
    [1001, ['the event loop was blocked for 1001 ms']],
  ] as const) {
    const { checked, world } = await health(t)
    world.blockedMs = blockedMs
    await world.advance(2 * INTERVAL_MS)
    t.ok(checked.isHealthy)
    await world.advance(INTERVAL_MS)
    t.same(checked.reasons, reasons)
  }
})

t.test('the log is probed by an append: one that can be read and not written to has not answered', async (t) => {
  const appended: string[] = []
  let isFull = false
  const probe = logProbe(
    {
      createTopics: (topics) => Promise.resolve(void appended.push(...topics.map(({ name }) => `made ${name}`))),
      append(topic) {
        if (isFull) return Promise.reject(new Error('the disk is full'))
        appended.push(topic)
        return Promise.resolve({ baseOffset: 0, timestamp: 0 })
      },
    },
    'test-health',
  )
  await probe()
  await probe()
  t.same(appended, ['made test-health', 'test-health', 'test-health'])
  isFull = true
  await t.rejects(probe(), { message: 'the disk is full' })
})
