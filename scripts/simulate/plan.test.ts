import fc from 'fast-check'
import t from 'tap'
import { heartbeatCount, plannedDevices, plannedHeartbeats, plannedOutages, type PlanOptions } from './plan.js'
import { seededRandom } from '../../common/random.js'
import { drawn } from './random.js'

const options: PlanOptions = {
  devices: 1000,
  plugins: 7,
  outages: 4,
  failureShare: 0.25,
  intervalMs: 60_000,
  durationMs: 120_000,
  seed: 42,
}

t.test('the same seed gives the same plan, another one another', async (t) => {
  const plan = (seed: number) => ({
    heartbeats: [...plannedHeartbeats(options, seededRandom(seed))],
    outages: plannedOutages(options, seededRandom(seed)),
  })
  t.same(plan(1), plan(1))
  t.notSame(plan(1), plan(2))
})

t.test('random numbers are those of mulberry32, from 0 to below 1', async (t) => {
  const random = seededRandom(1)
  t.same(
    [random(), random()].map((value) => Math.floor(value * 2 ** 32)),
    [2693262067, 11749833],
  )
  const values = Array.from({ length: 10_000 }, random)
  t.ok(values.every((value) => value >= 0 && value < 1))
  const mean = values.reduce((sum, value) => sum + value) / values.length
  t.ok(Math.abs(mean - 0.5) < 0.02, `mean ${mean}`)
})

t.test('devices have ids that NCMP takes, and are dealt out to the plugins', async (t) => {
  const devices = plannedDevices(options)
  t.same(devices.slice(0, 2), [
    { cmHandle: 'sim-42-00001', plugin: 0 },
    { cmHandle: 'sim-42-00002', plugin: 1 },
  ])
  t.equal(new Set(devices.map(({ cmHandle }) => cmHandle)).size, 1000)
  for (let plugin = 0; plugin < 7; plugin++) {
    const share = devices.filter((device) => device.plugin === plugin).length
    t.ok(share === 142 || share === 143, `plugin ${plugin} has ${share}`)
  }
})

t.test('each device speaks once an interval, evenly spread, and the failure share says NONE', async (t) => {
  const heartbeats = [...plannedHeartbeats(options, seededRandom(1))]
  t.equal(heartbeats.length, 2000)
  for (const [index, { atMs, device }] of heartbeats.entries()) {
    if (atMs !== index * 60 || device !== index % 1000) t.fail(`heartbeat ${index} is of ${device} at ${atMs}`)
  }
  const failing = heartbeats.filter(({ trustLevel }) => trustLevel === 'NONE').length
  t.ok(failing > 400 && failing < 600, `${failing} of 2000 say NONE`)
})

t.test('outages are of different plugins, begin in the first third, and every second one ends', async (t) => {
  const outages = plannedOutages(options, seededRandom(3))
  t.equal(new Set(outages.map(({ plugin }) => plugin)).size, 4)
  t.ok(outages.every(({ startMs }) => startMs >= 0 && startMs < 40_000))
  t.same(
    outages.map(({ returnsAfterMs }) => returnsAfterMs !== null),
    [true, false, true, false],
  )
  t.equal(plannedOutages({ ...options, outages: 99 }, seededRandom(3)).length, 7, 'no more than there are plugins')
})

t.test('whatever the options, heartbeats lie within the duration and are as many as counted', async () => {
  const some = fc.record({
    devices: fc.integer({ min: 1, max: 50 }),
    intervalMs: fc.integer({ min: 1000, max: 5000 }),
    durationMs: fc.integer({ min: 1000, max: 20_000 }),
    failureShare: fc.constantFrom(0, 0.5, 1),
  })
  fc.assert(
    fc.property(some, (changes) => {
      const changed = { ...options, ...changes }
      const heartbeats = [...plannedHeartbeats(changed, seededRandom(1))]
      const isInside = heartbeats.every(({ atMs }) => atMs >= 0 && atMs < changed.durationMs)
      const { failureShare } = changed
      const isShared = heartbeats.every(
        ({ trustLevel }) => failureShare === 0.5 || trustLevel === (failureShare === 1 ? 'NONE' : 'COMPLETE'),
      )
      return isInside && isShared && heartbeats.length === heartbeatCount(changed)
    }),
    { seed: 20261130 },
  )
})

t.test('numbers are drawn without repeats', async (t) => {
  t.same(
    [...drawn(seededRandom(1), 10, 10)].sort((a, b) => a - b),
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
  )
  t.equal(new Set(drawn(seededRandom(2), 500, 1000)).size, 500)
  t.same(drawn(seededRandom(1), 5, 0), [])
})
