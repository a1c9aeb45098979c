import t from 'tap'
import { soak } from './soak.js'

t.setTimeout(350_000)

t.test('500 clusters: stores are what a plain fold of their journals says, and so is every answer', async (t) => {
  t.strictSame(await soak('clusters', '--seeds', '500'), {
    code: 0,
    lines: ['clusters: 500 seeds from 1 on, 0 failed'],
  })
})
