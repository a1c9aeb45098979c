import t from 'tap'
import { manualClock } from '../../common/manual-clock.js'
import type { ManualClock } from '../../common/manual-clock.js'
import type { EffectRequest, JournalEvent } from '../processor.js'
import { Effects } from './effects.js'

const DEADLINE_MS = 2000
const effect = (id: string, target = 'plugin'): EffectRequest => ({ id, kind: 'call', target, payload: { id } })

interface Attempt {
  readonly id: string
  readonly signal: AbortSignal
  succeed(): void
  fail(message: string): void
}

class Subject {
  readonly clock: ManualClock = manualClock()
  readonly attempts: Attempt[] = []
  readonly results: string[] = []
  readonly errors: string[] = []
  appendFails = false
  readonly effects = new Effects({
    clock: this.clock,
    effectors: [
      {
        kind: 'call',
        deadlineMs: DEADLINE_MS,
        perform: ({ id }, signal) =>
          new Promise<JournalEvent>((resolve, reject) => {
            const succeed = (): void => resolve({ type: 'Called', data: { id } })
            this.attempts.push({ id, signal, succeed, fail: (message) => reject(new Error(message)) })
          }),
      },
    ],
    writer: {
      append: (entries) => {
        if (this.appendFails) return Promise.reject(new Error('no log'))
        this.results.push(...entries.map((entry) => (entry.kind === 'event' ? (entry.effectId ?? '') : '')))
        return Promise.resolve([])
      },
    },
    onPerformed: () => undefined,
    onError: (error) => this.errors.push(error.message),
  })

  get started(): string[] {
    return this.attempts.map(({ id }) => id)
  }

  /** Lets promise chains run. */
  settle(): Promise<void> {
    return this.clock.advance(0)
  }
}

t.test('nothing is carried out before the term begins', async (t) => {
  const s = new Subject()
  s.effects.requested(effect('a'))
  await s.settle()
  t.same(s.started, [])
})

t.test('one at a time for a target, in order; targets side by side', async (t) => {
  const s = new Subject()
  s.effects.start([])
  for (const id of ['a1', 'a2', 'a3']) s.effects.requested(effect(id, 'a'))
  s.effects.requested(effect('b1', 'b'))
  await s.settle()
  t.same(s.started, ['a1', 'b1'])
  s.attempts[0]?.succeed()
  await s.settle()
  t.same(s.started, ['a1', 'b1', 'a2'])
  t.same(s.results, ['a1'])
  s.attempts[2]?.succeed()
  await s.settle()
  t.same(s.started, ['a1', 'b1', 'a2', 'a3'])
})

t.test('what is inherited waits for its attempt deadline once, and keeps its order', async (t) => {
  const s = new Subject()
  s.effects.start([effect('10/0'), effect('9/0')])
  s.effects.requested(effect('new'))
  s.effects.requested(effect('10/0'))
  await s.clock.advance(DEADLINE_MS - 1)
  t.same(s.started, [])
  await s.clock.advance(1)
  t.same(s.started, ['10/0'])
  s.attempts[0]?.succeed()
  await s.settle()
  t.same(s.started, ['10/0', '9/0'], 'no second wait')
  s.attempts[1]?.succeed()
  await s.settle()
  t.same(s.started, ['10/0', '9/0', 'new'])
})

t.test('a failed attempt is told and made again, until there is a result', async (t) => {
  const s = new Subject()
  s.effects.start([])
  s.effects.requested(effect('a'))
  await s.settle()
  s.attempts[0]?.fail('refused')
  await s.clock.advance(999)
  t.equal(s.attempts.length, 1)
  await s.clock.advance(1)
  s.attempts[1]?.succeed()
  await s.settle()
  t.same(s.errors, ['refused'])
  t.same(s.results, ['a'])
})

t.test('an attempt without a result ends at its deadline, and the target goes on', async (t) => {
  const s = new Subject()
  s.effects.start([])
  s.effects.requested(effect('a'))
  await s.clock.advance(DEADLINE_MS)
  t.ok(s.attempts[0]?.signal.aborted)
  t.same(s.errors, ['call to "plugin" has no result after 2000 ms'])
  await s.clock.advance(1000)
  t.equal(s.attempts.length, 2)
  s.attempts[0]?.succeed()
  await s.settle()
  t.same(s.results, [], 'a late result is not taken')
})

t.test('a result that the log refuses is made again', async (t) => {
  const s = new Subject()
  s.effects.start([])
  s.effects.requested(effect('a'))
  s.appendFails = true
  await s.settle()
  s.attempts[0]?.succeed()
  await s.settle()
  t.same(s.errors, ['no log'])
  s.appendFails = false
  await s.clock.advance(1000)
  s.attempts[1]?.succeed()
  await s.settle()
  t.same(s.results, ['a'])
})

t.test('what is settled meanwhile is not carried out, nor tried again', async (t) => {
  const s = new Subject()
  s.effects.start([])
  s.effects.requested(effect('a'))
  s.effects.requested(effect('b'))
  await s.settle()
  s.effects.settled('b')
  s.effects.settled('a')
  s.attempts[0]?.fail('refused')
  await s.clock.advance(5000)
  t.same(s.started, ['a'])
  t.same(s.errors, [])
  t.equal(s.effects.owed, 0)
})

t.test('an effect that no effector knows stays owed and holds up nobody', async (t) => {
  const s = new Subject()
  s.effects.start([{ ...effect('x'), kind: 'unknown' }])
  s.effects.requested(effect('a'))
  await s.settle()
  t.same(s.started, ['a'])
})

t.test('stop ends what is under way, also where nobody listens; a new term begins afresh', async (t) => {
  const s = new Subject()
  s.effects.start([])
  s.effects.requested(effect('a'))
  s.effects.requested(effect('b'))
  await s.settle()
  await s.effects.stop()
  t.ok(s.attempts[0]?.signal.aborted)
  s.attempts[0]?.succeed()
  s.effects.requested(effect('c'))
  await s.clock.advance(5000)
  t.same(s.started, ['a'])
  t.same(s.results, [])
  t.same(s.errors, [])
  s.effects.start([effect('a'), effect('b')])
  await s.clock.advance(DEADLINE_MS)
  t.same(s.started, ['a', 'a'])
})
