import t from 'tap'
import { manualClock } from '../../common/manual-clock.js'
import type { ManualClock } from '../../common/manual-clock.js'
import type { RecordBatch, TopicPartition } from '../log/log.js'
import type { InputsTakenIn } from '../processor.js'
import { Intake } from './intake.js'

/** Two input partitions, a group that reads them, and what is told. */
class Subject {
  readonly clock: ManualClock = manualClock()
  readonly ends = [5, 3]
  readonly committed: (number | undefined)[] = [5, 3]
  readonly told: (readonly [partition: number, taken: InputsTakenIn])[] = []
  readonly errors: string[] = []
  readonly stop = new AbortController()
  /** Offsets below their end at which no record stands. */
  readonly marks = new Set<number>()
  reads = 0
  failure: Error | undefined
  readonly intake = new Intake({
    clock: this.clock,
    log: {
      offsets: ({ partition }) => {
        this.reads++
        if (this.failure !== undefined) return Promise.reject(this.failure)
        return Promise.resolve({ start: 0, end: this.ends[partition] ?? 0 })
      },
      read: (input, offset) => Promise.resolve(this.#batch(input, offset)),
    },
    inputs: () => [0, 1].map((partition) => ({ topic: 'in', partition })),
    committed: ({ partition }) => Promise.resolve(this.committed[partition]),
    tell: (partition, taken) => void this.told.push([partition, taken]),
    onError: (error) => void this.errors.push(error.message),
    signal: this.stop.signal,
  })

  #batch({ topic, partition }: TopicPartition, offset: number): RecordBatch {
    const end = this.ends[partition] ?? 0
    const record = { offset, timestamp: 0, key: null, value: null, headers: [] }
    return {
      topic,
      partition,
      end,
      next: this.marks.has(offset) ? end : offset + 1,
      records: this.marks.has(offset) ? [] : [record],
    }
  }
}

const inputs = (first: number, second: number): InputsTakenIn['inputs'] => [
  { topic: 'in', partition: 0, offset: first },
  { topic: 'in', partition: 1, offset: second },
]

t.test('an intake is told once the group has reached the ends of all inputs', async (t) => {
  const subject = new Subject()
  subject.committed[1] = 2
  subject.intake.ask(7, 1000)
  await subject.clock.advance(500)
  t.strictSame(subject.told, [], 'one input is behind')
  subject.ends[0] = 9
  subject.committed[1] = 3
  await subject.clock.advance(20)
  t.strictSame(subject.told, [[7, { asOf: 1000, inputs: inputs(5, 3) }]], 'what came after the question does not count')
})

t.test('an input that the group has not begun counts from its start', async (t) => {
  const subject = new Subject()
  subject.committed[0] = undefined
  subject.ends[0] = 0
  subject.intake.ask(0, 1)
  await subject.clock.advance(1)
  t.strictSame(subject.told, [[0, { asOf: 1, inputs: inputs(0, 3) }]])
})

t.test('marks of transactions behind the last record hold nothing back', async (t) => {
  const subject = new Subject()
  subject.committed[0] = 4
  subject.marks.add(4)
  subject.intake.ask(0, 1)
  await subject.clock.advance(1)
  t.strictSame(subject.told, [[0, { asOf: 1, inputs: inputs(5, 3) }]])
})

t.test('what is asked during a round goes together into the next', async (t) => {
  const subject = new Subject()
  subject.intake.ask(0, 1)
  await subject.clock.advance(1)
  const reads = subject.reads
  subject.intake.ask(1, 2)
  subject.intake.ask(2, 3)
  subject.intake.ask(1, 4)
  await subject.clock.advance(100)
  t.strictSame(
    subject.told.map(([partition, { asOf }]) => [partition, asOf]),
    [
      [0, 1],
      [1, 4],
      [2, 3],
    ],
  )
  t.equal(subject.reads, 2 * reads)
})

t.test('a log that does not answer is asked again, and the newest question stands', async (t) => {
  const subject = new Subject()
  subject.failure = new Error('no broker')
  subject.intake.ask(0, 1)
  await subject.clock.advance(1)
  subject.intake.ask(0, 2)
  subject.failure = undefined
  await subject.clock.advance(1000)
  t.strictSame(subject.errors, ['no broker'])
  t.strictSame(
    subject.told.map(([partition, { asOf }]) => [partition, asOf]),
    [[0, 2]],
  )
})

t.test('after the end nothing is told', async (t) => {
  const subject = new Subject()
  subject.committed[0] = 0
  subject.intake.ask(0, 1)
  await subject.clock.advance(100)
  subject.stop.abort()
  subject.committed[0] = 5
  await subject.clock.advance(100)
  t.strictSame(subject.told, [])
})
