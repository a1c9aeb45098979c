import t from 'tap'
import type { ManualClock } from '../../common/manual-clock.js'
import { manualClock } from '../../common/manual-clock.js'
import { LogError } from '../log/errors.js'
import type { Log, NewRecord, TransactionalWriter } from '../log/log.js'
import { OnceOutputs } from './once-outputs.js'
import { OnceWriter } from './once-writer.js'
import type { Output } from './output-record.js'

type Append = TransactionalWriter['append']

/** Topics of one partition each, without transactions: what is appended can be read. */
class TestLog {
  readonly topics = new Map<string, NewRecord[]>()
  /** Ids of the writers opened, in order. */
  readonly opened: string[] = []
  appends = 0
  /** What becomes of the next append by a writer of this id. */
  readonly faults = new Map<string, (append: Append) => Append>()

  readonly read: Log['read'] = (at, offset) => {
    const records = this.valuesOf(at.topic).map((value, i) => ({ offset: i, timestamp: 0, headers: [], ...value }))
    return Promise.resolve({ ...at, records: records.slice(offset), next: records.length, end: records.length })
  }

  readonly offsets: Log['offsets'] = ({ topic }) => Promise.resolve({ start: 0, end: this.valuesOf(topic).length })

  writer(id: string): Promise<TransactionalWriter> {
    this.opened.push(id)
    const append: Append = (parts) => {
      const appended = parts.map(({ topic, records }) => {
        return { baseOffset: this.valuesOf(topic).push(...records) - records.length, timestamp: 0 }
      })
      return Promise.resolve(appended)
    }
    return Promise.resolve({
      append: (parts) => {
        this.appends++
        const fault = this.faults.get(id)
        this.faults.delete(id)
        return (fault?.(append) ?? append)(parts)
      },
      close: () => Promise.resolve(),
    })
  }

  valuesOf(topic: string): NewRecord[] {
    const found = this.topics.get(topic) ?? []
    this.topics.set(topic, found)
    return found
  }

  alarms(): string[] {
    return this.valuesOf('alarms').map(({ value }) => String(value))
  }
}

interface TestTask {
  readonly outputs: OnceOutputs
  readonly kept: string[]
  send(offset: number): Promise<void>
  readonly giveUp: AbortController
}

function instance(
  log: TestLog,
  clock: ManualClock,
  whenTaken = (): void => undefined,
  lingerMs = 0,
): { task(name: string): Promise<TestTask> } {
  const onceWriter = new OnceWriter({
    ...{ clock, log, lingerMs, id: 'once' },
    giveWay: () => Promise.resolve(),
    async inTurn(work) {
      const result = work()
      await Promise.resolve()
      whenTaken()
      return result
    },
    onRetry: () => undefined,
  })
  return {
    async task(name) {
      const [giveUp, kept] = [new AbortController(), [] as string[]]
      const outputs = new OnceOutputs({
        ...{ clock, log, onceWriter, changelog: { topic: `changelog-${name}`, partition: 0 } },
        writer: await log.writer(name),
        keepOnceWriter: (id) => Promise.resolve(void kept.push(id)),
        changelogFrom: 0,
        position: { offset: 0, incarnation: 'x' },
        ...{ signal: new AbortController().signal, giveUp: giveUp.signal },
        encode: ({ position }) => ({ key: null, value: Buffer.from(`${name}${position.offset}`) }),
      })
      return {
        ...{ outputs, kept, giveUp },
        send(offset) {
          const made = { position: { offset, index: 0 } } as Output
          const sent = outputs.send([{ topic: 'alarms', partition: 0, made }])
          outputs.recordsFolded(offset + 1)
          return sent
        },
      }
    },
  }
}

const lost = (): Promise<never> => Promise.reject(new LogError('LOG_UNAVAILABLE', 'the answer was lost'))
const fenced = (): Promise<never> => Promise.reject(new LogError('WRITER_FENCED', 'another has it'))

t.test('behind a transaction of few outputs the next waits for company, one after a pause does not', async (t) => {
  const [log, clock] = [new TestLog(), manualClock()]
  const lingering = instance(log, clock, undefined, 5)
  const [one, other] = [await lingering.task('a'), await lingering.task('b')]
  await Promise.all([one.send(1), other.send(1)])
  await clock.advance(5)
  const first = one.send(2)
  await clock.advance(0)
  const late = [one.send(3), other.send(2)]
  await clock.advance(4)
  t.same(log.alarms().slice(2), ['a2'])
  await clock.advance(1)
  await Promise.all([first, ...late])
  t.same(log.alarms().slice(2), ['a2', 'a3', 'b2'])
})

for (const isCommitted of [true, false]) {
  const what = isCommitted ? 'is committed is not sent again' : 'is not committed is sent again'
  t.test(`a transaction whose end was not answered and that ${what}`, async (t) => {
    const [log, clock] = [new TestLog(), manualClock()]
    const task = await instance(log, clock).task('a')
    log.faults.set('once', (append) => async (parts) => {
      if (isCommitted) await append(parts)
      return lost()
    })
    const sent = task.send(4)
    await clock.advance(1000)
    await sent
    t.same(log.alarms(), ['a4'])
    t.equal(task.outputs.outUpTo, 5)
    t.same(log.opened, ['a', 'once', 'once'], 'what was under way is ended first')
    t.same(task.kept, ['once', 'once'])
  })
}

t.test('behind a portion that is given up nothing is sent: it would count as out', async (t) => {
  const [log, clock] = [new TestLog(), manualClock()]
  const task = await instance(log, clock).task('a')
  log.faults.set('once', () => lost)
  task.giveUp.abort()
  const first = task.send(1)
  const second = task.send(2)
  await t.rejects(first, { code: 'LOG_UNAVAILABLE' })
  await t.rejects(second, { code: 'LOG_UNAVAILABLE' })
  await t.rejects(task.send(3), { code: 'LOG_UNAVAILABLE' })
  t.same(log.alarms(), [])
  t.equal(task.outputs.outUpTo, 0)
})

t.test('tasks of an instance go along in one transaction', async (t) => {
  const [log, clock] = [new TestLog(), manualClock()]
  const one = instance(log, clock)
  const [a, b] = [await one.task('a'), await one.task('b')]
  await Promise.all([a.send(1), b.send(7)])
  const before = log.appends
  await Promise.all([a.send(2), b.send(8), a.send(3), b.send(9)])
  t.ok(log.appends - before <= 2, 'what comes while one is under way goes together with the next')
  t.same(log.alarms().sort(), ['a1', 'a2', 'a3', 'b7', 'b8', 'b9'])
  t.same(log.opened, ['a', 'b', 'once'])
})

t.test('what is folded while a portion is taken goes with the next', async (t) => {
  const [log, clock] = [new TestLog(), manualClock()]
  const sent: Promise<void>[] = []
  const one = instance(log, clock, () => {
    if (sent.length < 3) sent.push(a.send(1 + sent.length))
  })
  const a = await one.task('a')
  sent.push(a.send(1))
  while (sent.length < 3) await sent.at(-1)
  await Promise.all(sent)
  t.same(log.alarms(), ['a1', 'a2', 'a3'])
})

t.test('a task that another instance took over sends nothing, and the others go on', async (t) => {
  const [log, clock] = [new TestLog(), manualClock()]
  const one = instance(log, clock)
  const [a, b] = [await one.task('a'), await one.task('b')]
  await Promise.all([a.send(1), b.send(1)])
  // Its new owner has fenced the task's own writer and then the one that it had announced.
  log.faults.set('a', () => fenced)
  log.faults.set('once', () => fenced)
  const sent = [a.send(2), b.send(2)]
  await t.rejects(sent[0] as Promise<void>, { code: 'WRITER_FENCED' })
  await sent[1]
  t.same(log.alarms().sort(), ['a1', 'b1', 'b2'])
  await t.rejects(a.send(3), { code: 'WRITER_FENCED' })
  await b.send(3)
  t.equal(b.outputs.outUpTo, 4)
})

t.test('what the log refuses of one task is no matter of the others', async (t) => {
  const [log, clock] = [new TestLog(), manualClock()]
  const one = instance(log, clock)
  const [a, b] = [await one.task('a'), await one.task('b')]
  await Promise.all([a.send(1), b.send(1)])
  const refusing = (append: Append): Append => {
    return (parts) => {
      const isRefused = parts.some(({ records }) => records.some(({ value }) => String(value) === 'a2'))
      log.faults.set('once', refusing)
      return isRefused ? Promise.reject(new LogError('RECORD_TOO_LARGE', 'it is too large')) : append(parts)
    }
  }
  log.faults.set('once', refusing)
  const sent = [a.send(2), b.send(2)]
  await t.rejects(sent[0] as Promise<void>, { code: 'RECORD_TOO_LARGE' })
  await sent[1]
  t.same(log.alarms().sort(), ['a1', 'b1', 'b2'])
})

t.test('a task that goes elsewhere with all out takes its note back', async (t) => {
  const [log, clock] = [new TestLog(), manualClock()]
  const one = instance(log, clock)
  const [a, silent] = [await one.task('a'), await one.task('silent')]
  await a.send(1)
  await a.outputs.release()
  t.same(a.kept, ['once', ''])
  await silent.outputs.release()
  t.same(silent.kept, [], 'one that has sent nothing has none')
})
