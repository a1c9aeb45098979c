import t from 'tap'
import { createGate } from './gate.js'

const never = new AbortController().signal

t.test('at most so many tasks run at once, the others in order of arrival', async (t) => {
  const gate = createGate(2)
  const started: number[] = []
  const finish: (() => void)[] = []
  const tasks = [0, 1, 2, 3].map((i) =>
    gate.run(never, () => {
      started.push(i)
      return new Promise<void>((resolve) => (finish[i] = resolve))
    }),
  )
  await Promise.resolve()
  t.strictSame(started, [0, 1])
  finish[1]?.()
  await tasks[1]
  await Promise.resolve()
  t.strictSame(started, [0, 1, 2])
  finish[0]?.()
  finish[2]?.()
  await Promise.all([tasks[0], tasks[2]])
  finish[3]?.()
  await tasks[3]
  t.strictSame(started, [0, 1, 2, 3])
})

t.test('who is gone does not run, and makes room', async (t) => {
  const gate = createGate(1)
  let finish = (): void => undefined
  const first = gate.run(never, () => new Promise<void>((resolve) => (finish = resolve)))
  const gone = new AbortController()
  const skipped = gate.run(gone.signal, async () => t.fail('ran'))
  const third = gate.run(never, async () => 'third')
  gone.abort(new Error('client gone'))
  await t.rejects(skipped, { message: 'client gone' })
  finish()
  await first
  t.equal(await third, 'third')
  await t.rejects(
    gate.run(AbortSignal.abort(new Error('before')), async () => t.fail('ran')),
    { message: 'before' },
  )
})

t.test('a failed task makes room', async (t) => {
  const gate = createGate(1)
  await t.rejects(
    gate.run(never, () => Promise.reject(new Error('failed'))),
    { message: 'failed' },
  )
  t.equal(await gate.run(never, async () => 'next'), 'next')
})
