import t from 'tap'
import type { Connection } from './connection.js'
import { OffsetQueue } from './offset-queue.js'
import { typeOf } from './protocol/broker-error.js'
import type { ListedOffset } from './protocol/requests.js'

const [start, end] = [-2, -1]

function subject(answer: readonly ListedOffset[] | Error) {
  const bodies: Buffer[] = []
  const connection = {
    send(_node: number, { body }: { readonly body: Buffer }) {
      bodies.push(body)
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
    },
  }
  return { bodies, queue: new OffsetQueue(connection as unknown as Connection, 1) }
}

const listed = (partition: number, offset: number, errorCode = 0): ListedOffset => {
  return { topic: 'journal', partition, errorCode, offset }
}

t.test('what is asked in one turn shares a request for each timestamp', async (t) => {
  const { queue, bodies } = subject([listed(0, 7), listed(1, 9)])
  const ask = (partition: number, timestamp: number): Promise<number> =>
    queue.ask({ topic: 'journal', partition }, timestamp)
  t.same(await Promise.all([ask(0, end), ask(1, end), ask(0, end), ask(1, start)]), [7, 9, 7, 9])
  t.equal(bodies.length, 2)
  const named = (bodies[0]?.toString('latin1').split('journal').length ?? 0) - 1
  t.equal(named, 1, 'a topic, and in it each partition, stands there once')
  t.equal(await ask(1, end), 9)
  t.equal(bodies.length, 3)
})

t.test('an error of one partition is no error of the others', async (t) => {
  const { queue } = subject([listed(0, 7), listed(1, -1, 6)])
  const [first, second, third] = await Promise.allSettled(
    [0, 1, 2].map((partition) => queue.ask({ topic: 'journal', partition }, end)),
  )
  t.same(first, { status: 'fulfilled', value: 7 })
  t.equal(typeOf(second?.status === 'rejected' && second.reason), 'NOT_LEADER_FOR_PARTITION')
  t.equal(typeOf(third?.status === 'rejected' && third.reason), 'UNKNOWN', 'one that was not answered')
})

t.test('what befalls the request befalls all of it', async (t) => {
  const { queue } = subject(new Error('cut off'))
  const asked = [0, 1].map((partition) => queue.ask({ topic: 'journal', partition }, end))
  for (const one of asked) await t.rejects(one, { message: 'cut off' })
})
