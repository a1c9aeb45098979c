import t from 'tap'
import { SimulatedWorld } from './simulated-world.js'

t.test('HS-01 HS-02 over many seeds no living instance is killed, and no dead one is missed', async (t) => {
  const first = Number(process.env['PULSEFOLD_TEST_SEED'] ?? 1)
  const runs = Number(process.env['PULSEFOLD_TEST_RUNS'] ?? 300)
  let kills = 0
  let least = Infinity
  let most = 0
  for (let seed = first; seed < first + runs; seed++) {
    const outcome = new SimulatedWorld(seed).run()
    kills += outcome.kills
    for (const age of outcome.undisturbedAges) {
      least = Math.min(least, age)
      most = Math.max(most, age)
    }
    if (outcome.faults.length > 0) t.strictSame(outcome.faults, [], `seed ${seed}`)
  }
  t.ok(kills >= runs / 2, `${kills} kills in ${runs} runs`)
  t.ok(least > 1500 && most <= 2100, `undisturbed, kills came ${least} to ${most} ms after the last answer`)
})
