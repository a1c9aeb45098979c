import t from 'tap'
import { SimulatedCluster } from './simulated-cluster.js'
import { SimulatedWorld } from './simulated-world.js'
import type { Outcome } from './simulated-world.js'

const FIRST = Number(process.env['PULSEFOLD_TEST_SEED'] ?? 1)
const runs = (byDefault: number): number => Number(process.env['PULSEFOLD_TEST_RUNS'] ?? byDefault)

t.setTimeout(0)

const worlds: readonly (readonly [where: string, runs: number, run: (seed: number) => Outcome | Promise<Outcome>])[] = [
  ['folds in a small engine', runs(300), (seed) => new SimulatedWorld(seed).run()],
  ['the whole engine on two instances', runs(15), (seed) => new SimulatedCluster(seed).run()],
]

for (const [where, count, run] of worlds) {
  t.test(`HS-01 HS-02 over many seeds of ${where} no living instance is killed, no dead one missed`, async (t) => {
    let kills = 0
    const ages: number[] = []
    for (let seed = FIRST; seed < FIRST + count; seed++) {
      const outcome = await run(seed)
      kills += outcome.kills
      ages.push(...outcome.undisturbedAges)
      if (outcome.faults.length > 0) t.strictSame(outcome.faults, [], `seed ${seed}`)
    }
    t.ok(kills >= count / 2, `${kills} kills in ${count} runs`)
    const [least, most] = [Math.min(...ages), Math.max(...ages)]
    t.ok(least > 1500 && most <= 2100, `undisturbed, kills came ${least} to ${most} ms after the last answer`)
  })
}
