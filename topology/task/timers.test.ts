import t from 'tap'
import { manualClock } from '../../common/manual-clock.js'
import { createStoreDigest } from '../../state-stores/digest.js'
import { memoryProvider } from '../../state-stores/memory/provider.js'
import { countingProcessor } from '../counting-processor.js'
import type { TimerEntry } from '../journal/entry.js'
import { freeze } from './freeze.js'
import { RowStore } from './row-store.js'
import { deadlineKey, engineTables } from './table-runtime.js'
import { Timers } from './timers.js'

async function subject() {
  const clock = manualClock()
  const store = await memoryProvider().open('rows')
  const rows = new RowStore(store, countingProcessor.tables, 0)
  const appended: string[][] = []
  const errors: string[] = []
  const failures: Error[] = []
  let epoch = 1
  const timers = new Timers({
    clock,
    rows,
    writer: {
      append(entries) {
        const failure = failures.shift()
        if (failure !== undefined) return Promise.reject(failure)
        appended.push(entries.map((entry) => `${(entry as TimerEntry).id}@${(entry as TimerEntry).epoch}`))
        return Promise.resolve([])
      },
    },
    journalTime: () => clock.monotonic(),
    epoch: () => epoch,
    onError: (error) => errors.push(error.message),
  })
  const put = (due: number, id: string, armed: boolean): void => {
    rows.beginEvent()
    rows.put(rows.state(engineTables.deadlines), deadlineKey(due, id), armed || undefined)
  }
  return {
    clock,
    timers,
    appended,
    errors,
    failures,
    setEpoch: (next: number) => (epoch = next),
    /** As a fold does. */
    arm: (due: number, ...ids: readonly string[]) => {
      for (const id of ids) {
        put(due, id, true)
        timers.armed({ due, id })
      }
      timers.folded()
    },
    /** As a fold does that reads the record back. */
    readBack: (due: number, id: string) => {
      put(due, id, false)
      timers.fired({ due, id })
    },
    disarm: (due: number, id: string) => {
      put(due, id, false)
      timers.disarmed({ due, id })
    },
    commit: async () => {
      await store.write(freeze(rows.tables, createStoreDigest()).operations())
      rows.finishCommit()
    },
    /** What was appended since the last call. */
    sent: () => appended.splice(0).flat(),
  }
}

t.test('a deadline fires when it is due, not before, committed or not', async (t) => {
  const s = await subject()
  s.timers.start()
  s.arm(1000, 'a')
  await s.clock.advance(999)
  t.same(s.sent(), [])
  await s.clock.advance(1)
  t.same(s.sent(), ['a@1'])
  s.arm(3000, 'b')
  await s.commit()
  await s.clock.advance(2000)
  t.same(s.sent(), ['b@1'])
})

t.test('an earlier deadline armed later fires first', async (t) => {
  const s = await subject()
  s.timers.start()
  s.arm(5000, 'late')
  await s.clock.advance(100)
  s.arm(200, 'early')
  await s.clock.advance(100)
  t.same(s.sent(), ['early@1'])
  await s.clock.advance(4800)
  t.ok(s.sent().includes('late@1'))
})

t.test('a disarmed deadline does not fire', async (t) => {
  const s = await subject()
  s.timers.start()
  s.arm(1000, 'a', 'b')
  s.disarm(1000, 'a')
  await s.clock.advance(1000)
  t.same(s.sent(), ['b@1'])
})

t.test('nothing fires before the term begins, nor after it has ended', async (t) => {
  const s = await subject()
  s.arm(1000, 'a')
  await s.clock.advance(2000)
  t.same(s.sent(), [])
  s.timers.start()
  await s.clock.advance(1)
  t.same(s.sent(), ['a@1'], 'overdue at the start')
  await s.timers.stop()
  s.arm(3000, 'b')
  await s.clock.advance(60_000)
  t.same(s.sent(), [])
})

t.test('overdue deadlines fire in the order of time, in portions', async (t) => {
  const s = await subject()
  const ids = Array.from({ length: 1234 }, (_, i) => String(i).padStart(4, '0'))
  for (const [i, id] of [...ids.entries()].reverse()) s.arm(i, id)
  await s.commit()
  await s.clock.advance(5000)
  s.timers.start()
  await s.clock.advance(1)
  t.same(
    s.appended.map((portion) => portion.length),
    [500, 500, 234],
  )
  t.same(
    s.sent(),
    ids.map((id) => `${id}@1`),
  )
})

t.test('what is not read back is sent again; what is read back is not', async (t) => {
  const s = await subject()
  s.timers.start()
  s.arm(1000, 'a', 'b')
  await s.clock.advance(1000)
  t.same(s.sent(), ['a@1', 'b@1'])
  s.readBack(1000, 'a')
  await s.clock.advance(9000)
  t.same(s.sent(), [])
  await s.clock.advance(2000)
  t.same(s.sent(), ['b@1'])
  s.readBack(1000, 'b')
  await s.clock.advance(60_000)
  t.same(s.sent(), [])
})

t.test('a deadline armed again after it has fired fires again', async (t) => {
  const s = await subject()
  s.timers.start()
  s.arm(1000, 'a')
  await s.clock.advance(1000)
  s.readBack(1000, 'a')
  s.sent()
  s.arm(1000, 'a')
  await s.clock.advance(1)
  t.same(s.sent(), ['a@1'])
})

t.test('a failed append is told and made again', async (t) => {
  const s = await subject()
  s.failures.push(new Error('no log'))
  s.timers.start()
  s.arm(1000, 'a')
  await s.clock.advance(1000)
  t.same(s.sent(), [])
  t.same(s.errors, ['no log'])
  await s.clock.advance(12_000)
  t.same(s.sent(), ['a@1'])
})

t.test('a new term sends what the former one had sent, under its own epoch', async (t) => {
  const s = await subject()
  s.timers.start()
  s.arm(1000, 'a')
  await s.clock.advance(1000)
  t.same(s.sent(), ['a@1'])
  await s.timers.stop()
  s.setEpoch(2)
  s.timers.start()
  await s.clock.advance(1)
  t.same(s.sent(), ['a@2'])
})
