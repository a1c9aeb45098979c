import t from 'tap'
import { manualClock } from '../common/manual-clock.js'
import { Turns } from './turns.js'

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A clock that work itself moves, and the names of what was done; `|` stands between two turns of the event loop. */
function watched() {
  const clock = manualClock()
  let spentMs = 0
  const turns = new Turns({ ...clock, monotonic: () => clock.monotonic() + spentMs })
  const done: string[] = []
  return {
    clock,
    turns,
    done,
    work:
      (name: string, ms = 3) =>
      () => {
        spentMs += ms
        done.push(name)
      },
    look: async (times: number): Promise<string> => {
      for (let turn = 0; turn < times; turn++) {
        await nextTurn()
        done.push('|')
      }
      return done.join(' ')
    },
  }
}

t.test('a turn of the event loop holds what begins within two milliseconds of it', async (t) => {
  const { turns, work, look } = watched()
  const seen = look(3)
  for (const [name, ms] of Object.entries({ a: 1, b: 1, c: 30, d: 1, e: 1 })) void turns.run(work(name, ms))
  t.equal(await seen, 'a b | c | d e |')
})

t.test('what is due comes before what was read, and that before what can wait, but not for ever', async (t) => {
  const { turns, work, look } = watched()
  const seen = look(6)
  void turns.run(work('first'))
  void turns.run(work('late'), 'canWait')
  void turns.run(work('second'))
  void turns.run(work('third'))
  void turns.run(work('tick', 60), 'due')
  await nextTurn()
  void turns.run(work('fourth'))
  t.equal(await seen, 'first | tick | second | third | late | fourth |')
})

t.test('after what could wait the queries under way come before the next, for as long as it took', async (t) => {
  const { clock, turns, done, work, look } = watched()
  turns.queryBegins()
  const seen = look(3)
  void turns.run(work('a', 9), 'canWait')
  void turns.run(work('b', 9), 'canWait')
  void turns.run(work('c'))
  t.equal(await seen, 'a | c | |', 'neither the first waits for queries, nor what cannot wait')
  turns.queryEnds()
  turns.queryBegins()
  t.equal(await look(2), 'a | c | | | |', 'the next query of the same caller comes first, too')
  turns.queryEnds()
  t.equal(await look(2), 'a | c | | | | b | |')
  done.length = 0
  turns.queryBegins()
  void turns.run(work('d'), 'canWait')
  await clock.advance(4)
  t.equal(await look(2), '| |')
  await clock.advance(1)
  t.equal(await look(1), '| | d |', 'a long query does not hold it up for ever')
  turns.queryEnds()
})

t.test('what work answers or throws is what its caller gets', async (t) => {
  const turns = new Turns(manualClock())
  t.equal(await turns.run(() => 1), 1)
  await t.rejects(
    turns.run(() => {
      throw new Error('no')
    }),
    { message: 'no' },
  )
})
