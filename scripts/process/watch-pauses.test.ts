import t from 'tap'
import { silentLogger } from '../../common/logger.js'
import { manualClock } from '../../common/manual-clock.js'
import { createMetrics } from '../../common/metrics.js'
import { watchPauses } from './watch-pauses.js'

t.test('HS-01 a pause is logged and counted, a timer that is a little late is not', async (t) => {
  const clock = manualClock()
  let pausedMs = 0
  const lines: unknown[] = []
  const logger = Object.assign(silentLogger(), { warn: (line: unknown) => lines.push(line) })
  const metrics = createMetrics({ processMetrics: false })
  const end = watchPauses({ ...clock, monotonic: () => clock.monotonic() + pausedMs }, metrics, logger)
  await clock.advance(5000)
  pausedMs += 900
  await clock.advance(1000)
  t.strictSame(lines, [])
  pausedMs += 3000
  await clock.advance(1000)
  t.strictSame(lines, [{ pausedMs: 3000 }])
  await clock.advance(5000)
  t.match(await metrics.text(), /^pulsefold_pauses_total 1$/m)
  end()
  pausedMs += 3000
  await clock.advance(5000)
  t.equal(lines.length, 1)
})
