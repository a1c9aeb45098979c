import t from 'tap'
import { platformLines } from './platform-table.js'
import type { ShownPlatform } from './platform-table.js'

const since = '2026-11-30T08:00:00.000Z'
const parameters = {
  name: 'voicemail',
  selectionMode: 'ACTIVE_STANDBY',
  detectInterval: 5000,
  detectThreshold: 0.5,
  retryInterval: 30_000,
  retryAttempts: 3,
  minCalls: 1,
  panicMode: false,
}

t.test('a platform is a line of parameters and a table of addresses', async (t) => {
  const platform: ShownPlatform = {
    ...parameters,
    addresses: [
      {
        position: 0,
        address: '10.0.0.1:5060',
        state: 'failed',
        since,
        window: { calls: 0, failed: 0 },
        retry: { successes: 2, nextAt: '2026-11-30T08:01:00.000Z' },
      },
      {
        position: 1,
        address: 'b',
        state: 'active',
        since,
        window: { calls: 1234, failed: 5 },
        retry: { successes: 0, nextAt: null },
      },
    ],
  }
  t.strictSame(platformLines(platform), [
    'voicemail; ACTIVE_STANDBY; failed at 50 % of 1 or more calls in 5000 ms; repaired by 3 retries in a row, each 30000 ms',
    '  position  address        state   since                     calls  failed  retries  next retry',
    '         0  10.0.0.1:5060  failed  2026-11-30T08:00:00.000Z      0       0      2/3  2026-11-30T08:01:00.000Z',
    '         1  b              active  2026-11-30T08:00:00.000Z   1234       5',
  ])
})

t.test('what is switched off is said', async (t) => {
  const off = { ...parameters, detectInterval: 0, retryInterval: 0, panicMode: true, addresses: [] }
  t.strictSame(platformLines(off), [
    'voicemail; ACTIVE_STANDBY; no detection; no automatic repair; panic mode',
    '  no addresses',
  ])
})
