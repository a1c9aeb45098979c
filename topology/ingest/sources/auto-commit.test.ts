import t from 'tap'
import { manualClock } from '../../../common/manual-clock.js'
import { LogError } from '../../log/errors.js'
import type { GroupPosition, TopicPartition } from '../../log/log.js'
import { AutoCommit } from './auto-commit.js'

const [first, second] = [0, 1].map((partition) => ({ topic: 'in', partition })) as [TopicPartition, TopicPartition]
const at = (offset: number): GroupPosition => ({ offset, metadata: '' })

/** Commits to a group that a test plays: each is answered by the next of `answers`, or taken. */
function subject() {
  const clock = manualClock()
  const ending = new AbortController()
  const committed: [number, number][] = []
  /** Undefined: it is taken. */
  const answers: (LogError | Promise<void> | undefined)[] = []
  const errors: string[] = []
  const commits = new AutoCommit({
    clock,
    member: () => ({
      commit({ partition }, { offset }) {
        committed.push([partition, offset])
        const answer = answers.shift()
        return answer instanceof LogError ? Promise.reject(answer) : (answer ?? Promise.resolve())
      },
    }),
    onError: ({ message }) => void errors.push(message),
    signal: ending.signal,
  })
  return { clock, ending, committed, answers, errors, commits }
}

t.test('what is taken in within 50 ms is one commit of each partition, of the newest', async (t) => {
  const { clock, committed, commits } = subject()
  commits.put(first, at(1))
  commits.put(second, at(5))
  await clock.advance(0)
  t.same(committed.splice(0), [
    [0, 1],
    [1, 5],
  ])
  commits.put(first, at(2))
  commits.put(first, at(3))
  await clock.advance(49)
  t.same(committed, [])
  await clock.advance(1)
  t.same(committed, [[0, 3]])
})

t.test('a partition that goes elsewhere is committed before', async (t) => {
  const { clock, committed, commits } = subject()
  commits.put(first, at(1))
  await clock.advance(0)
  commits.put(first, at(2))
  await commits.flush(first)
  t.same(committed, [
    [0, 1],
    [0, 2],
  ])
})

t.test('a partition goes elsewhere only when a commit of it under way is answered', async (t) => {
  const { clock, answers, commits } = subject()
  let answer = (): void => undefined
  answers.push(new Promise<void>((resolve) => (answer = resolve)))
  commits.put(first, at(1))
  await clock.advance(0)
  let isFlushed = false
  const flushed = commits.flush(first).then(() => (isFlushed = true))
  await clock.advance(0)
  t.notOk(isFlushed)
  answer()
  await flushed
  t.ok(isFlushed)
})

t.test('a partition goes elsewhere with a commit under way that was refused made again', async (t) => {
  const { clock, committed, answers, commits } = subject()
  let refuse = (_: LogError): void => undefined
  answers.push(new Promise<void>((_, reject) => (refuse = reject)))
  commits.put(first, at(1))
  await clock.advance(0)
  const flushed = commits.flush(first)
  refuse(new LogError('LOG_UNAVAILABLE', 'not now'))
  await flushed
  t.same(committed, [
    [0, 1],
    [0, 1],
  ])
})

t.test('once it is ended, it commits only what it is told to', async (t) => {
  const { clock, ending, committed, commits } = subject()
  ending.abort()
  commits.put(first, at(1))
  await clock.advance(200)
  t.same(committed, [])
  await commits.flush(first)
  t.same(committed, [[0, 1]])
})

t.test('a position that the group did not take is committed a second later, or a newer one in its place', async (t) => {
  const { clock, committed, answers, errors, commits } = subject()
  const refused = new LogError('LOG_UNAVAILABLE', 'not now')
  answers.push(refused)
  commits.put(first, at(1))
  await clock.advance(900)
  t.same(committed, [[0, 1]])
  t.same(errors, ['not now'])
  answers.push(refused)
  await clock.advance(200)
  t.same(committed.splice(0), [
    [0, 1],
    [0, 1],
  ])
  commits.put(first, at(2))
  await clock.advance(1100)
  t.same(committed, [[0, 2]])
})

t.test('what is another member’s by now is not committed again', async (t) => {
  const { clock, committed, answers, errors, commits } = subject()
  answers.push(new LogError('WRITER_FENCED', 'not held any more'))
  commits.put(first, at(1))
  await clock.advance(200)
  t.same(committed, [[0, 1]])
  t.same(errors, [])
})
