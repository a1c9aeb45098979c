import t from 'tap'
import { manualClock } from '../../common/manual-clock.js'
import { PeerWatch } from './peer-watch.js'

const INTERVAL_MS = 10_000

function watch(isHealthy: () => Promise<boolean>, random = () => 0.5) {
  const clock = manualClock()
  return { clock, watch: new PeerWatch({ clock, intervalMs: INTERVAL_MS, threshold: 3, isHealthy, random }) }
}

t.test('only failed checks in a row count', async (t) => {
  const rows: [answers: string, hasFailed: boolean][] = [
    ['', false],
    ['--', false],
    ['---', true],
    ['+---', true],
    ['--+--', false],
    ['-+-+-+-+', false],
    ['--+-+--+--', false],
    ['---+', false],
    ['---+---', true],
  ]
  for (const [answers, hasFailed] of rows) {
    let next = 0
    const { watch: peer } = watch(() => Promise.resolve(answers[next++] === '+'))
    for (const _ of answers) await peer.check()
    t.equal(peer.hasFailed, hasFailed, answers)
    t.equal(peer.isHealthy, answers.endsWith('+'), answers)
    t.equal(peer.wasHealthy, answers.includes('+'), answers)
  }
})

t.test(
  'a check that does not come to an answer has failed; what was seen before a switch counts no more',
  async (t) => {
    const { watch: peer } = watch(() => Promise.reject(new Error('refused')))
    for (let n = 0; n < 3; n++) await peer.check()
    t.ok(peer.hasFailed)
    peer.reset()
    t.notOk(peer.hasFailed)
  },
)

t.test('checks come at their period, a tenth more or less, however long one takes', async (t) => {
  for (const [random, periodMs] of [
    [0, 9000],
    [0.5, 10_000],
    [1, 11_000],
  ] as const) {
    const asked: number[] = []
    const { clock, watch: peer } = watch(
      () => {
        asked.push(clock.monotonic())
        return new Promise((resolve) => clock.setTimer(() => resolve(false), 6000))
      },
      () => random,
    )
    const stop = new AbortController()
    const running = peer.run(stop.signal)
    await clock.advance(3 * periodMs + 100)
    t.same(asked, [0, periodMs, 2 * periodMs, 3 * periodMs])
    stop.abort()
    await clock.advance(periodMs)
    await running
  }
})
