import assert from 'node:assert/strict'
import fc from 'fast-check'
import { StoreError } from '../../state-stores/errors.js'
import { countingProcessor } from '../../topology/counting-processor.js'
import { openEmbeddedLogAt } from '../../topology/log/embedded/embedded-log.js'
import { taskSteps } from '../../topology/task/environment.js'
import { TopologyTestDriver } from '../../topology/test-driver.js'
import { checkRun, CountingRun, inputRecord, stopAt } from '../../topology/system/counting-run.js'
import type { Action } from '../../topology/system/counting-run.js'
import { simulationOf } from './random-story.js'
import { traceOf } from './trace.js'
import {
  action,
  expectedTotals,
  partition,
  PARTITIONS,
  sorted,
  totalsOf,
  value,
} from '../../topology/system/random-actions.js'

/** What befalls the process between two actions. */
type Accident =
  | { readonly kind: 'crash' | 'loseDisk' | 'stop' }
  /** The input's position is set back: all of it is delivered once more. */
  | { readonly kind: 'redeliver'; readonly partition: number }
  /** From the nth write on the log refuses all, for a time and until something else happens. */
  | {
      readonly kind: 'logFails'
      readonly nth: number
      readonly values: readonly string[]
      readonly partition: number
      readonly ms: number
    }
  /** Dies when it comes there for the nth time from now on, or where it then is. */
  | {
      readonly kind: 'stopAt'
      readonly step: (typeof taskSteps)[number]
      readonly partition: number
      readonly nth: number
    }

const accident: fc.Arbitrary<Accident> = fc.oneof(
  fc.constantFrom('crash', 'loseDisk', 'stop').map((kind) => ({ kind })),
  fc.record({ kind: fc.constant('redeliver' as const), partition }),
  fc.record({
    kind: fc.constant('logFails' as const),
    nth: fc.nat({ max: 6 }),
    ms: fc.constantFrom(0, 60, 800),
    values: fc.array(value, { minLength: 1, maxLength: 8 }),
    partition,
  }),
  fc.record({
    kind: fc.constant('stopAt' as const),
    step: fc.constantFrom(...taskSteps),
    partition,
    nth: fc.integer({ min: 1, max: 3 }),
  }),
)
const actions = fc.array(fc.oneof({ weight: 3, arbitrary: action }, { weight: 1, arbitrary: accident }), {
  minLength: 1,
  maxLength: 14,
})
const settings = fc.record({
  commitIntervalMs: fc.constantFrom(1, 50, 100, 700),
  changelogIntervalMs: fc.constantFrom(0, 100, 1000, 10_000),
  stateCacheBytes: fc.constantFrom(0, 4 * 1024 * 1024),
})

async function rewind(driver: TopologyTestDriver, partition: number): Promise<void> {
  const { clock, stores } = driver
  const log = await openEmbeddedLogAt(stores, 'log', { clock, newIncarnation: () => '', onCleanError: () => undefined })
  const member = await log.join({
    group: 'test',
    topics: ['count-me'],
    listener: {
      onAssigned: (assigned) => Promise.resolve(assigned.map((input) => ({ ...input, offset: 1_000_000 }))),
      onRevoked: () => Promise.resolve(),
      onBatch: () => Promise.resolve(),
      onGap: () => undefined,
      onError: () => undefined,
    },
  })
  await new Promise((resolve) => setImmediate(resolve))
  await member.commit({ topic: 'count-me', partition }, { offset: 0, metadata: '' })
  await member.leave()
  await log.close()
}

/** A run whose log can be made to refuse writes. */
class TroubledRun extends CountingRun {
  #writesLeft = Number.POSITIVE_INFINITY

  constructor(driver: TopologyTestDriver) {
    super(driver)
    const refused = new StoreError('STORE_WRITE_FAILED', 'no space left on device')
    driver.wrapStore = (name, store) =>
      name !== 'log'
        ? store
        : { ...store, write: (...given) => (--this.#writesLeft < 0 ? Promise.reject(refused) : store.write(...given)) }
  }

  async act(step: Action | Accident): Promise<void> {
    const { driver } = this
    this.#writesLeft = Number.POSITIVE_INFINITY
    switch (step.kind) {
      case 'records':
      case 'command':
      case 'advance':
        return this.do(step)
      case 'crash':
        return this.#restart()
      case 'loseDisk':
        return this.#restart(() => {
          for (const name of driver.taskStores) driver.stores.destroy(name)
        })
      case 'redeliver':
        return this.#restart(() => rewind(driver, step.partition))
      case 'stop':
        // A stop under a task that never goes on would wait for ever.
        if (driver.probe !== undefined) return this.#restart()
        await driver.stop()
        await driver.start()
        return this.repeatCommands()
      case 'stopAt':
        driver.probe = stopAt(step.step, step.partition, step.nth).probe
        return undefined
      case 'logFails':
        await driver.log.append('count-me', step.partition, step.values.map(inputRecord))
        this.#writesLeft = step.nth
        await driver.settle()
        return driver.advance(step.ms)
    }
  }

  async #restart(meanwhile?: () => void | Promise<void>): Promise<void> {
    this.driver.probe = undefined
    await this.restart(meanwhile)
  }
}

/** Whatever befalls the process, stores and outputs are those of the journal, and totals are exact. */
export const instance = simulationOf({
  name: 'instance',
  about: 'one instance that crashes at any step, loses its disk, or cannot write to its log',
  story: fc.record({ actions, settings }),
  async run(story) {
    const driver = new TopologyTestDriver({
      processors: [countingProcessor],
      partitions: PARTITIONS,
      application: story.settings,
      observer: { onSetAside: (_domain, _partition, reason) => assert.doesNotMatch(reason, /does not give its state/) },
    })
    const run = new TroubledRun(driver)
    await driver.start()
    for (const step of story.actions) await run.act(step)
    await run.act({ kind: 'crash' })
    await run.finish()
    const models = await checkRun(run)
    assert.deepEqual(sorted(totalsOf(models)), sorted(expectedTotals(story.actions)))
    const trace = await traceOf(
      driver,
      [...run.answers].map(([id, answer]) => `${id} ${JSON.stringify(answer)}`),
    )
    await run.act({ kind: 'loseDisk' })
    await checkRun(run)
    await driver.stop()
    return { trace }
  },
})
