import t from 'tap'
import { countingProcessor } from '../counting-processor.js'
import { taskSteps } from '../task/environment.js'
import { TopologyTestDriver } from '../test-driver.js'
import { businessOf, checkRun, CountingRun, stopAt } from './counting-run.js'
import type { Action } from './counting-run.js'

const PARTITIONS = 3

/** Every mode of the counting processor, over all partitions, with time going on between. */
const workload: readonly Action[] = [
  { kind: 'records', partition: 0, values: ['a', 'b:once', 'a:send', 'c:timer', '', 'skip', 'o:once'] },
  { kind: 'records', partition: 1, values: ['a', 'd:broadcast', 'e:request', 'f:deadLetter'] },
  { kind: 'advance', ms: 150 },
  { kind: 'command', id: 'command-1', key: 'a', mode: '' },
  { kind: 'command', id: 'command-2', key: 'g', mode: 'send' },
  { kind: 'records', partition: 2, values: ['h:fail', 'b:request', 'i:timer', 'j:survey', 'k', 'k:delete', ''] },
  { kind: 'advance', ms: 1100 },
  {
    kind: 'records',
    partition: 0,
    values: ['l:timer', 'l:cancel', 'a:once', 'b:broadcast', 'o:once', 'm:undeclared', 'e:request'],
  },
  { kind: 'command', id: 'command-3', key: 'd', mode: 'timer' },
  { kind: 'advance', ms: 1300 },
  {
    kind: 'records',
    partition: 1,
    values: ['a', 'b:once', 'c', 'd', 'e', 'f:once', 'g', 'h', 'i', 'j:survey', 'k', 'l'],
  },
]

const newDriver = (): TopologyTestDriver =>
  new TopologyTestDriver({ processors: [countingProcessor], partitions: PARTITIONS })

async function uninterrupted(): Promise<{ business: object; answers: ReadonlyMap<string, unknown> }> {
  const run = new CountingRun(newDriver())
  await run.driver.start()
  for (const action of workload) await run.do(action)
  await run.finish()
  const models = await checkRun(run)
  await run.driver.stop()
  return { business: businessOf(models), answers: run.answers }
}

const expected = await uninterrupted()

for (const step of taskSteps) {
  for (let partition = 0; partition < PARTITIONS; partition++) {
    t.test(`a task of partition ${partition} that dies at '${step}' changes nothing in the end`, async (t) => {
      for (const nth of step === 'owner announced' ? [1] : [1, 2, 3]) {
        const run = new CountingRun(newDriver())
        const { driver } = run
        const { probe, stopped } = stopAt(step, partition, nth)
        driver.probe = probe
        await driver.start()
        let crashes = 0
        for (const action of workload) {
          await run.do(action)
          if (!stopped() || crashes > 0) continue
          crashes++
          await run.restart()
        }
        await run.finish()
        t.equal(crashes, 1, 'the step was met')
        t.same(businessOf(await checkRun(run)), expected.business, `${step}, time ${nth}`)
        t.same(run.answers, expected.answers)
        await driver.stop()
      }
    })
  }
}
