import t from 'tap'
import { manualClock } from '../../../common/manual-clock.js'
import type { ManualClock } from '../../../common/manual-clock.js'
import { memoryProvider } from '../../../state-stores/memory/provider.js'
import { WriteQueue } from './write-queue.js'

const large = 16 * 1024

/** A queue that lingers for 1 ms, and the bytes of each of its writes. */
async function lingering(): Promise<{
  readonly clock: ManualClock
  readonly writes: number[]
  readonly queue: WriteQueue
  readonly submit: (bytes: number) => Promise<void>
}> {
  const clock = manualClock()
  const inner = await memoryProvider().open('log')
  const writes: number[] = []
  const store: typeof inner = {
    ...inner,
    write(operations, how) {
      writes.push([...operations].reduce((sum, { value }) => sum + (value?.length ?? 0), 0))
      return inner.write(operations, how)
    },
  }
  const queue = new WriteQueue(store, { clock, maxWaitingBytes: 1024 * 1024, lingerMs: 1 })
  const submit = (bytes: number): Promise<void> =>
    queue.submit(bytes, (operations) => {
      operations.push({ key: Buffer.from('key'), value: Buffer.alloc(bytes) })
      return { applied: () => undefined, undo: () => undefined }
    })
  return { clock, writes, queue, submit }
}

t.test('the first write goes at once, small ones soon after it wait and go together', async (t) => {
  const { clock, writes, submit } = await lingering()
  await submit(1)
  const others = [submit(2), submit(3)]
  await clock.advance(0)
  t.same(writes, [1])
  await clock.advance(1)
  await Promise.all(others)
  t.same(writes, [1, 5])
})

t.test('a write after a pause does not wait', async (t) => {
  const { clock, writes, submit } = await lingering()
  await submit(1)
  await clock.advance(2)
  await submit(2)
  t.same(writes, [1, 2])
})

t.test('what is large does not wait, and takes along what does', async (t) => {
  const { writes, submit } = await lingering()
  await submit(1)
  await Promise.all([submit(2), submit(large)])
  t.same(writes, [1, 2 + large])
})

t.test('closing writes what waits', async (t) => {
  const { writes, queue, submit } = await lingering()
  await submit(1)
  const last = submit(2)
  await queue.close()
  await last
  t.same(writes, [1, 2])
})
