import t from 'tap'
import { soak } from './soak.js'

t.setTimeout(300_000)

for (const name of ['clusters', 'instance', 'crash-points', 'keep-alive', 'sites', 'site-instances']) {
  t.test(`${name}: a seed gives the same run again, whatever ran before it`, async (t) => {
    const all = await soak(name, '--seed', '21', '--seeds', '3', '--trace')
    const again = await soak(name, '--seed', '23', '--seeds', '1', '--trace')
    t.match(all, { code: 0, lines: { length: 4 } })
    t.match(again.lines[0], /seed 23: [0-9a-f]{16}$/)
    t.equal(again.lines[0], all.lines[2])
    t.not(all.lines[1]?.split(': ')[1], all.lines[2]?.split(': ')[1], 'another seed gives another run')
  })
}
