import fc from 'fast-check'
import t from 'tap'
import { ensureError } from '../../common/errors.js'
import { simulationOf } from './random-story.js'
import { runSeeds } from './run-seeds.js'

t.test('a seed that fails is told with the command that runs it again; the others run on', async (t) => {
  const lines: string[] = []
  const run = (seed: number): Promise<{ trace: string }> =>
    seed === 4 ? Promise.reject(new Error('not so')) : Promise.resolve({ trace: `of ${seed}` })
  const range = { first: 3, count: 5, goesOn: () => lines.length < 4 }
  const failed = await runSeeds({ name: 'odd', about: '', run }, range, {
    say: (line) => lines.push(line),
    trace: true,
  })
  t.equal(failed, 1)
  t.strictSame(lines, [
    'odd seed 3: of 3',
    'odd seed 4 failed: not so',
    'again: ./scripts/soak odd --seed 4 --seeds 1',
    'odd seed 5: of 5',
    'odd: 3 seeds from 3 on, 1 failed',
  ])
})

t.test('of a random story that fails the shortest one is told that still does', async (t) => {
  const simulation = simulationOf({
    name: 'sum',
    about: '',
    story: fc.array(fc.nat({ max: 100 })),
    run: (story) => (story.includes(7) ? Promise.reject(new Error('seven')) : Promise.resolve({ trace: '' })),
  })
  const faults: Error[] = []
  for (let seed = 1; seed <= 200; seed++) {
    await simulation.run(seed).catch((thrown: unknown) => faults.push(ensureError(thrown)))
  }
  t.not(faults.length, 0)
  for (const { message, cause } of faults) {
    t.equal(message, 'with the story [7]')
    t.match(cause, { message: 'seven' })
  }
})
