import t from 'tap'
import { seededRandom } from '../../../common/random.js'
import { callsToFailed, compareMoves } from './observation.js'
import type { SeenState } from './observation.js'
import { activeWithinMs, failedWithinMs, isDown, leastDurationMs, plannedAddressOutages } from './plan.js'
import type { SisPlanOptions } from './plan.js'
import { isSisAsExpected, sisReportLines } from './report.js'
import type { SisReport } from './report.js'

const options: SisPlanOptions = {
  platforms: 3,
  addresses: 4,
  outages: 2,
  durationMs: 60_000,
  detectIntervalMs: 1000,
  retryIntervalMs: 1000,
  retryAttempts: 3,
  seed: 7,
}

t.test('a script is the same for a seed: outages that can be found, and repaired before the end', async (t) => {
  const outages = plannedAddressOutages(options, seededRandom(7))
  t.same(plannedAddressOutages(options, seededRandom(7)), outages)
  t.equal(outages.length, 6)
  t.equal(new Set(outages.map(({ platform, position }) => `${platform}/${position}`)).size, 6)
  for (const { platform, position, fromMs, toMs } of outages) {
    t.ok(toMs - fromMs >= failedWithinMs(options))
    t.ok(toMs + activeWithinMs(options) <= options.durationMs)
    t.ok(isDown(outages, platform, position, fromMs))
    t.notOk(isDown(outages, platform, position, toMs))
    t.notOk(isDown(outages, platform + 3, position, fromMs))
  }
  t.ok(leastDurationMs(options) < options.durationMs)
})

const outage = { platform: 0, position: 1, fromMs: 5000, toMs: 15_000 }
const move = (state: string, sinceMs: number, position = 1): SeenState => ({ platform: 0, position, state, sinceMs })
const named = (platform: number, position: number): string => `p${platform} a${position}`

t.test('moves are held against the script', async (t) => {
  const begun = [move('active', -10), move('active', -10, 0)]
  const right = [...begun, move('failed', 6000), move('active', 18_000)]
  t.same(compareMoves(options, [outage], right, named), {
    outages: [{ address: 'p0 a1', lastedMs: 10_000, failedAfterMs: 1000, activeAfterMs: 3000 }],
    unexpected: [],
  })
  t.match(compareMoves(options, [outage], begun, named), {
    outages: [{ failedAfterMs: null, activeAfterMs: null }],
  })
  t.match(compareMoves(options, [outage], [...right, move('failed', 20_000), move('failed', 3000, 0)], named), {
    unexpected: ['p0 a1 failed at 20.0 s', 'p0 a0 failed at 3.0 s'],
  })
})

t.test('a call that goes to an address which has failed is told, unless it is a retry or was under way', async (t) => {
  const seen = [move('active', -10), move('failed', 6000), move('active', 18_000)]
  const call = (askedMs: number, isRetry = false) => ({ platform: 0, position: 1, isRetry, askedMs })
  t.same(callsToFailed([call(5000), call(6100), call(17_000, true), call(18_100)], seen), [])
  t.same(callsToFailed([call(7001), call(17_999)], seen), [call(7001), call(17_999)])
})

t.test('a report says whether all is as expected', async (t) => {
  const report: SisReport = {
    url: 'http://127.0.0.1:8080',
    seed: 1,
    durationMs: 60_000,
    calls: 100,
    retries: 3,
    failed: 10,
    unserved: 0,
    outages: [{ address: 'p a1', lastedMs: 10_000, failedAfterMs: 1000, activeAfterMs: 3000 }],
    unexpected: [],
    toFailed: [],
    latencies: { selection: { count: 100, p50Ms: 1, p99Ms: 2 } },
  }
  t.ok(isSisAsExpected(report))
  t.same(sisReportLines(report), [
    'Simulated against http://127.0.0.1:8080 with seed 1 for 60.0 s',
    '  calls     100, 10 failed, 3 of all were retries; 0 without an address',
    '  outage    p a1 for 10.0 s: FAILED after 1.0 s, ACTIVE again 3.0 s after its end',
    '  moves     0 besides these',
    '  calls     0 to a failed address that were no retries',
    '  latency   selection: p50 1.0 ms, p99 2.0 ms of 100',
    'All moves are as expected.',
  ])
  for (const wrong of [
    { outages: [{ address: 'p a1', lastedMs: 10_000, failedAfterMs: null, activeAfterMs: 1 }] },
    { unexpected: ['a', 'b', 'c', 'd', 'e', 'f'] },
    { toFailed: ['p a1'] },
  ]) {
    t.notOk(isSisAsExpected({ ...report, ...wrong }))
    t.match(sisReportLines({ ...report, ...wrong }).at(-1), 'DIFFER')
  }
})
