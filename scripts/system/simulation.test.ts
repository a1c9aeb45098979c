import t from 'tap'
import { systemClock } from '../../common/clock.js'
import { isAsExpected } from '../simulate/report.js'
import { simulateTrustLevels } from '../simulate/simulate.js'
import { startSystem } from './fixtures.js'

t.test('a simulation with outages finds every answer of a running Pulsefold as expected', async (t) => {
  const system = await startSystem(t, { dmiHealthIntervalMs: 400, dmiHealthDeadlineMs: 200 })
  const options = {
    url: system.pulsefold().url,
    devices: 200,
    plugins: 4,
    outages: 2,
    failureShare: 0.3,
    intervalMs: 2000,
    durationMs: 6000,
    seed: 13,
    cleanUp: true,
  }
  const progress = { update: () => undefined, step: () => undefined, stop: () => undefined }
  const signal = new AbortController().signal
  const report = await simulateTrustLevels(options, { clock: systemClock, signal, progress })
  t.ok(isAsExpected(report), JSON.stringify(report))
  t.equal(report.outages.filter(({ seenDownMs }) => seenDownMs !== null).length, 2)
  t.equal(report.outages.filter(({ seenUpMs }) => seenUpMs !== null).length, 1)
  t.ok(report.heartbeats.NONE > 0 && report.heartbeats.COMPLETE > 0)
  t.same(await system.search(), [], 'cleaned up')
})
