import t from 'tap'
import { manualClock } from '../../../common/manual-clock.js'
import type { Connection } from './connection.js'
import { ProduceQueue } from './produce-queue.js'

const large = 64 * 1024

/** A queue to a broker that takes all at once, and how many requests that were. */
function subject() {
  const clock = manualClock()
  const requests: unknown[] = []
  const connection = {
    send(_node: number, request: unknown) {
      requests.push(request)
      const answers = [0, 1].map((partition) => ({ topic: 'in', partition, errorCode: 0, baseOffset: 0 }))
      return Promise.resolve(answers)
    },
  } as unknown as Connection
  const queue = new ProduceQueue(connection, 1, { clock, timeoutMs: 1000 })
  const send = (partition: number, bytes: number): Promise<unknown> =>
    queue.send({ topic: 'in', partition, batch: Buffer.alloc(bytes) })
  return { clock, requests, send }
}

t.test('the first batch goes at once, small ones soon after it share a request', async (t) => {
  const { clock, requests, send } = subject()
  await send(0, 10)
  const others = [send(0, 10), send(1, 10)]
  await clock.advance(1)
  t.equal(requests.length, 1)
  await clock.advance(1)
  await Promise.all(others)
  t.equal(requests.length, 2)
})

t.test('behind a large request the next one goes at once, as one does behind a pause', async (t) => {
  const { clock, requests, send } = subject()
  await send(0, large)
  await send(0, 10)
  t.equal(requests.length, 2)
  await clock.advance(2)
  await send(0, 10)
  t.equal(requests.length, 3)
})
