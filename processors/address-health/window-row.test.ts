import fc from 'fast-check'
import t from 'tap'
import { closedWindow, counted, emptyWindow, hasCounted, windowCodec } from './window-row.js'
import type { WindowRow } from './window-row.js'

const END = 1_800_000_000_000
const shown = ({ end, isClosed, calls, failed }: WindowRow): object => ({ end, isClosed, calls, failed })

t.test('a window counts calls and knows each by either of its ids', async (t) => {
  const once = counted(emptyWindow(END), true, 11, 12)
  const twice = counted(once, false, 21, 22)
  t.strictSame(shown(twice), { end: END, isClosed: false, calls: 2, failed: 1 })
  t.ok(hasCounted(twice, 11, 99))
  t.ok(hasCounted(twice, 99, 22))
  t.notOk(hasCounted(twice, 98, 99))
})

t.test('a row stays as it was when the next is made of it, or another in its place', async (t) => {
  let row = emptyWindow(END)
  for (let call = 0; call < 40; call++) {
    const bytes = windowCodec.encode(row).toString('hex')
    const given = counted(row, true, 1000 + call, 2000 + call)
    t.ok(hasCounted(given, 1000 + call, 0))
    const instead = counted(row, false, 3000 + call, 4000 + call)
    t.equal(windowCodec.encode(row).toString('hex'), bytes)
    t.notOk(hasCounted(row, 1000 + call, 3000 + call))
    t.notOk(hasCounted(instead, 1000 + call, 2000 + call), 'what was taken back is forgotten')
    t.ok(hasCounted(instead, 3000 + call, 0))
    row = instead
  }
  t.strictSame(shown(row), { end: END, isClosed: false, calls: 40, failed: 0 })
})

t.test('rows come back from bytes as they were, whatever hashes', async (t) => {
  const hash = fc.maxSafeInteger().map(Math.abs)
  const call = fc.record({ isFailure: fc.boolean(), id: hash, event: hash })
  fc.assert(
    fc.property(fc.array(call, { maxLength: 200 }), (calls) => {
      let row = emptyWindow(END)
      for (const { isFailure, id, event } of calls) row = counted(row, isFailure, id, event)
      const bytes = windowCodec.encode(row)
      const read = windowCodec.decode(bytes)
      t.strictSame(shown(read), shown(row))
      t.equal(bytes.at(-1), 0)
      t.ok(windowCodec.encode(read).equals(bytes))
      for (const { id, event } of calls) {
        t.ok(hasCounted(read, id, -1) && hasCounted(read, -1, event))
        t.ok(hasCounted(row, id, -1) && hasCounted(row, -1, event))
      }
      const more = counted(read, true, 1, 2)
      t.ok(hasCounted(more, 1, -1) && hasCounted(more, -1, 2))
    }),
  )
})

t.test('a closed window keeps its ids and is told by its bytes', async (t) => {
  const row = counted(emptyWindow(END), true, 11, 12)
  const closed = closedWindow(row, END - 1)
  t.strictSame(shown(windowCodec.decode(windowCodec.encode(closed))), {
    end: END - 1,
    isClosed: true,
    calls: 1,
    failed: 1,
  })
  t.equal(closedWindow(row, END + 1).end, END)
  t.ok(hasCounted(closed, 11, 0))
  t.strictSame(shown(row), { end: END, isClosed: false, calls: 1, failed: 1 })
})

t.test('bytes that are no window are refused', async (t) => {
  for (const bytes of [Buffer.alloc(0), Buffer.alloc(7), Buffer.alloc(16), Buffer.alloc(24, 1)]) {
    t.throws(() => windowCodec.decode(bytes), RangeError)
  }
})

t.test('where a row is shown its hashes are left out', async (t) => {
  const row = counted(emptyWindow(END), true, 11, 12)
  const shown = { end: END, isClosed: false, calls: 1, failed: 1, ids: 'hashes' }
  t.strictSame(JSON.parse(JSON.stringify(row)), shown)
})
