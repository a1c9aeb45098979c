import t from 'tap'
import { manualClock } from '../../common/manual-clock.js'
import { RestoreMeter } from './restore-meter.js'

t.test('RS-17 how far it is, how fast, how long still; nothing is known before the first record', async (t) => {
  const clock = manualClock()
  const meter = new RestoreMeter(clock)
  t.same(meter.status, {
    ...{ phase: 'changelog', doneRecords: 0, totalRecords: 0, recordsPerSecond: null, remainingMs: null },
  })
  meter.reached('changelog', 0, 1000)
  await clock.advance(2000)
  t.match(meter.status, { doneRecords: 0, totalRecords: 1000, recordsPerSecond: null, remainingMs: null })
  meter.reached('changelog', 250, 1000)
  t.match(meter.status, { doneRecords: 250, totalRecords: 1000, recordsPerSecond: 125, remainingMs: 6000 })
  await clock.advance(2000)
  meter.reached('changelog', 1000, 1000)
  t.match(meter.status, { doneRecords: 1000, totalRecords: 1000, recordsPerSecond: 250, remainingMs: 0 })
})

t.test('RS-17 what is done never falls: the journal comes on top, and so does a try from the start', async (t) => {
  const clock = manualClock()
  const meter = new RestoreMeter(clock)
  meter.reached('changelog', 100, 100)
  await clock.advance(1000)
  meter.reached('journal', 0, 50)
  t.match(meter.status, { phase: 'journal', doneRecords: 100, totalRecords: 150, recordsPerSecond: null })
  await clock.advance(1000)
  meter.reached('journal', 25, 50)
  t.match(meter.status, { doneRecords: 125, totalRecords: 150, recordsPerSecond: 25, remainingMs: 1000 })
  meter.reached('journal', 0, 400)
  t.match(meter.status, { doneRecords: 125, totalRecords: 525 })
})

t.test('a changelog that grew meanwhile is no overshoot', async (t) => {
  const meter = new RestoreMeter(manualClock())
  meter.reached('changelog', 12, 10)
  t.match(meter.status, { doneRecords: 12, totalRecords: 12 })
})
