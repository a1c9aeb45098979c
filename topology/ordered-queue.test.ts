import t from 'tap'
import { manualClock } from '../common/manual-clock.js'
import { LogError } from './log/errors.js'
import { OrderedQueue } from './ordered-queue.js'

const unavailable = new LogError('LOG_UNAVAILABLE', 'no broker')
const refused = new LogError('RECORD_TOO_LARGE', 'too large')

/** Sends numbers to a log that a test controls. */
function subject(limits: { maxItems?: number; maxBytes?: number } = {}) {
  const clock = manualClock()
  const sends: number[][] = []
  const retries: string[] = []
  const failures: (Error | ((items: readonly number[]) => Error | undefined))[] = []
  let held: Promise<void> | undefined
  const queue = new OrderedQueue<number, string>({
    clock,
    async send(items) {
      sends.push([...items])
      await held
      const failure = failures[0] instanceof Error ? failures.shift() : failures[0]
      const error = typeof failure === 'function' ? failure(items) : failure
      if (error instanceof Error) throw error
      return `send ${sends.length}`
    },
    maxItems: limits.maxItems ?? 100,
    maxBytes: limits.maxBytes ?? 1000,
    sizeOf: (item) => item,
    retryDelayMs: 200,
    onRetry: (error) => retries.push(error.message),
  })
  const hold = (): (() => void) => {
    let release: () => void = () => undefined
    held = new Promise((resolve) => (release = resolve))
    return release
  }
  return { clock, queue, sends, retries, failures, hold }
}

t.test('callers of one turn go together; each is told its place', async (t) => {
  const { queue, sends } = subject()
  const pushed = await Promise.all([queue.push([1, 2]), queue.push([3]), queue.push([4])])
  t.same(sends, [[1, 2, 3, 4]])
  t.same(pushed, [
    { result: 'send 1', first: 0 },
    { result: 'send 1', first: 2 },
    { result: 'send 1', first: 3 },
  ])
  t.ok(queue.isEmpty)
})

t.test('what comes while a send is under way waits, and goes together', async (t) => {
  const { queue, sends, hold } = subject()
  const release = hold()
  const first = queue.push([1])
  await new Promise((resolve) => setImmediate(resolve))
  const later = [queue.push([2]), queue.push([3])]
  t.notOk(queue.isEmpty)
  release()
  await Promise.all([first, ...later])
  t.same(sends, [[1], [2, 3]])
})

t.test('a send is bounded in items and bytes, but for a caller that alone is larger', async (t) => {
  const few = subject({ maxItems: 3 })
  await Promise.all([[1, 1], [1], [1], [1, 1, 1, 1, 1], [1]].map((items) => few.queue.push(items)))
  t.same(few.sends, [[1, 1, 1], [1], [1, 1, 1, 1, 1], [1]])
  const small = subject({ maxBytes: 10 })
  await Promise.all([[4, 4], [2], [1], [30], [9, 1]].map((items) => small.queue.push(items)))
  t.same(small.sends, [[4, 4, 2], [1], [30], [9, 1]])
})

t.test('a retry is not overtaken', async (t) => {
  const { queue, sends, retries, failures, clock } = subject()
  failures.push(unavailable, unavailable)
  const done: number[] = []
  const first = queue.push([1]).then(() => done.push(1))
  await clock.advance(100)
  const second = queue.push([2]).then(() => done.push(2))
  await clock.advance(100)
  t.same(sends, [[1], [1]])
  await clock.advance(200)
  await Promise.all([first, second])
  t.same(sends, [[1], [1], [1], [2]])
  t.same(done, [1, 2])
  t.same(retries, ['no broker', 'no broker'])
})

t.test("one caller's fault does not reject the others, and their order stays", async (t) => {
  const { queue, sends, failures } = subject()
  failures.push((items) => (items.includes(2) ? refused : undefined))
  const results = await Promise.allSettled([queue.push([1]), queue.push([2, 20]), queue.push([3])])
  t.match(results, [
    { status: 'fulfilled', value: { first: 0 } },
    { status: 'rejected', reason: { code: 'RECORD_TOO_LARGE' } },
    { status: 'fulfilled', value: { first: 0 } },
  ])
  t.same(sends, [[1, 2, 20, 3], [1], [2, 20], [3]])
  failures.length = 0
  t.match(await queue.push([4]), { first: 0 })
})

t.test('an error that no code is known of is the caller to hear, not tried again', async (t) => {
  const { queue, failures, sends } = subject()
  failures.push(new TypeError('a bug'))
  await t.rejects(queue.push([1]), TypeError)
  t.equal(sends.length, 1)
})

t.test('stop gives up retries at once; what can be sent still is', async (t) => {
  const { queue, sends, failures, clock } = subject()
  failures.push(() => unavailable)
  const waiting = queue.push([1])
  await clock.advance(50)
  const behind = queue.push([2])
  queue.stop()
  await t.rejects(waiting, { code: 'LOG_UNAVAILABLE' })
  await t.rejects(behind, { code: 'LOG_UNAVAILABLE' })
  failures.length = 0
  t.match(await queue.push([3]), { first: 0 })
  t.same(sends, [[1], [1], [2], [3]])
})

t.test('a closed log is not tried again', async (t) => {
  const { queue, sends, failures } = subject()
  failures.push(new LogError('LOG_CLOSED', 'closed'))
  await t.rejects(queue.push([1]), { code: 'LOG_CLOSED' })
  t.equal(sends.length, 1)
})
