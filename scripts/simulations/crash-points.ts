import assert from 'node:assert/strict'
import fc from 'fast-check'
import { countingProcessor } from '../../topology/counting-processor.js'
import { checkRun, CountingRun, stopAt } from '../../topology/system/counting-run.js'
import {
  action,
  expectedTotals,
  partition,
  PARTITIONS,
  sorted,
  totalsOf,
} from '../../topology/system/random-actions.js'
import { taskSteps } from '../../topology/task/environment.js'
import { TopologyTestDriver } from '../../topology/test-driver.js'
import { simulationOf } from './random-story.js'
import { traceOf } from './trace.js'

/** A task that dies at a step of its work, now and then twice, changes nothing in the end. */
export const crashPoints = simulationOf({
  name: 'crash-points',
  about: 'one instance whose task dies at a step of a commit, and goes on with its disk or without',
  story: fc.record({
    actions: fc.array(action, { minLength: 2, maxLength: 12 }),
    deaths: fc.array(
      fc.record({
        step: fc.constantFrom(...taskSteps),
        partition,
        nth: fc.integer({ min: 1, max: 4 }),
        losesDisk: fc.boolean(),
      }),
      { minLength: 1, maxLength: 2 },
    ),
  }),
  async run({ actions, deaths }) {
    const run = new CountingRun(new TopologyTestDriver({ processors: [countingProcessor], partitions: PARTITIONS }))
    const { driver } = run
    const waiting = [...deaths]
    let next = waiting.shift()
    let death = next === undefined ? undefined : stopAt(next.step, next.partition, next.nth)
    driver.probe = death?.probe
    await driver.start()
    for (const given of actions) {
      await run.do(given)
      if (death?.stopped() !== true) continue
      const losesDisk = next?.losesDisk === true
      next = waiting.shift()
      death = next === undefined ? undefined : stopAt(next.step, next.partition, next.nth)
      driver.probe = death?.probe
      await run.restart(() => {
        if (losesDisk) for (const name of driver.taskStores) driver.stores.destroy(name)
      })
    }
    driver.probe = undefined
    await run.restart()
    await run.finish()
    const models = await checkRun(run)
    assert.deepEqual(sorted(totalsOf(models)), sorted(expectedTotals(actions)))
    const trace = await traceOf(driver, [])
    await driver.stop()
    return { trace }
  },
})
