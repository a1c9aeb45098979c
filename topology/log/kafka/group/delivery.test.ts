import t from 'tap'
import type { Test } from 'tap'
import { manualClock } from '../../../../common/manual-clock.js'
import { gate, numbered, RecordingListener } from '../../contract/harness.js'
import { decodeBatches, encodeBatch } from '../protocol/record-batch.js'
import { Delivery } from './delivery.js'
import type { FetchedBatch } from './delivery.js'

const at = { topic: 'x', partition: 0 }

/** Two records at offsets 0 and 1, then nothing up to 5. */
async function fetched(): Promise<readonly [FetchedBatch, FetchedBatch]> {
  const two = await decodeBatches(encodeBatch(numbered(2), 0), 0)
  const none = await decodeBatches(Buffer.alloc(0), 2)
  return [
    { ...at, ...two, end: 5 },
    { ...at, ...none, next: 5, end: 5 },
  ]
}

function deliveryTo(t: Test, listener: RecordingListener): Delivery {
  const onFatal = (error: Error): void => void t.fail(error.message)
  const options = { listener, clock: manualClock(), maxRecords: 10, maxBytes: 1000, onWanted: () => undefined, onFatal }
  const delivery = new Delivery(at, options)
  t.teardown(() => delivery.stop())
  return delivery
}

t.test('that no record is left is told behind the batch that is handled', async (t) => {
  const [two, none] = await fetched()
  const opened = gate()
  const listener = new RecordingListener({ onBatch: () => opened.opened })
  const delivery = deliveryTo(t, listener)
  void delivery.run({ ...at, offset: 0 })
  delivery.arrive(0, two)
  await listener.until((seen) => seen.batches().length === 1)
  delivery.arrive(2, none)
  t.same(listener.passed(), [])
  opened.open()
  await listener.until((seen) => seen.passed().length > 0)
  t.same(listener.seen.map(({ call }) => call).slice(-2), ['batch-done', 'passed'])
  t.same(listener.passed(), [{ ...at, next: 5 }])
  delivery.arrive(5, { ...none, next: 5 })
  t.equal(delivery.wanted, 5)
})

t.test('where it was sent before it ran is where it starts, of that topic only', (t) => {
  const delivery = deliveryTo(t, new RecordingListener())
  delivery.seek({ ...at, offset: 0, incarnation: 'new' })
  void delivery.run({ ...at, offset: 7, incarnation: 'old' })
  t.equal(delivery.wanted, 0)
  t.same([delivery.reads('old'), delivery.reads('new')], [false, true])
  t.end()
})
