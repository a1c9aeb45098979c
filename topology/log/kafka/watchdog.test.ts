import t from 'tap'
import { manualClock } from '../../../common/manual-clock.js'
import { gate } from '../contract/harness.js'
import { Watchdog } from './watchdog.js'

function watched() {
  const clock = manualClock()
  const stalls: Error[] = []
  const watchdog = new Watchdog({ clock, boundMs: 1000, onStall: (error) => stalls.push(error) })
  return { clock, stalls, watchdog }
}

t.test('SH-07 work that neither ends nor fails is reported once, by its name', async (t) => {
  const { clock, stalls, watchdog } = watched()
  const work = gate()
  const guarded = watchdog.guard('a heartbeat', work.opened)
  await clock.advance(999)
  t.same(stalls, [])
  await clock.advance(1)
  t.match(stalls, [{ code: 'CLIENT_STALLED', message: 'a heartbeat has neither ended nor failed for 1000 ms' }])
  await clock.advance(10_000)
  t.equal(stalls.length, 1)
  work.open()
  await guarded
})

t.test('work that ends or fails in time is passed on, and nothing is reported later', async (t) => {
  const { clock, stalls, watchdog } = watched()
  t.equal(await watchdog.guard('a fetch', Promise.resolve(7)), 7)
  await t.rejects(watchdog.guard('a fetch', Promise.reject(new Error('gone'))), { message: 'gone' })
  await clock.advance(10_000)
  t.same(stalls, [])
})
