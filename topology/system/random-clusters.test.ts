import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { countingProcessor } from '../counting-processor.js'
import { checkRun, CountingRun } from './counting-run.js'
import type { Action } from './counting-run.js'
import { action, expectedTotals, PARTITIONS, sorted, totalsOf } from './random-actions.js'
import { TestCluster } from './test-cluster.js'
import type { TestInstance } from './test-cluster.js'

const NAMES = ['a', 'b', 'c'] as const
type Name = (typeof NAMES)[number]

/** What befalls an instance, or the log, between two actions. */
type Accident =
  /** It is started, or goes on when it was paused. */
  | { readonly kind: 'start' | 'stop' | 'kill' | 'killAndLose' | 'pause'; readonly name: Name }
  /** Paused for longer than a session: the group goes on without it. */
  | { readonly kind: 'forget'; readonly name: Name }
  | { readonly kind: 'compact' }

const accident: fc.Arbitrary<Accident> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom('start', 'kill', 'stop', 'killAndLose', 'pause', 'forget'),
      name: fc.constantFrom(...NAMES),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'compact' as const }) },
)
const story = fc.array(fc.oneof({ weight: 2, arbitrary: action }, { weight: 1, arbitrary: accident }), {
  minLength: 4,
  maxLength: 24,
})

/** A cluster of up to three instances that things happen to. */
class ClusterRun extends CountingRun<TestCluster> {
  readonly #running = new Map<Name, TestInstance>()
  readonly #paused = new Set<Name>()
  /** A group waits for its paused members, and who leaves it waits along. */
  readonly #leaving: Promise<void>[] = []

  async act(step: Action | Accident): Promise<void> {
    if (step.kind === 'records' || step.kind === 'command' || step.kind === 'advance') return this.do(step)
    if (step.kind === 'compact') return this.driver.log.clean()
    const { kind, name } = step
    const instance = this.#running.get(name)
    if (kind === 'start') {
      if (instance === undefined) this.#running.set(name, await this.driver.start(name))
      else this.#resume(name, instance)
    } else if (instance !== undefined) {
      await this.#befall(kind, name, instance)
    }
    await this.driver.settle()
    return this.repeatCommands()
  }

  /** All paused go on, and one at least runs. */
  async recover(): Promise<void> {
    for (const [name, instance] of this.#running) this.#resume(name, instance)
    await Promise.all(this.#leaving)
    if (this.#running.size === 0) this.#running.set('a', await this.driver.start('a'))
    await this.driver.advance(10_000, 250)
  }

  async #befall(
    kind: Exclude<Accident['kind'], 'start' | 'compact'>,
    name: Name,
    instance: TestInstance,
  ): Promise<void> {
    if (kind === 'pause') {
      instance.process.pause()
      this.#paused.add(name)
    } else if (kind === 'forget') {
      if (this.#paused.has(name)) this.#leaving.push(instance.process.forget())
    } else {
      this.#running.delete(name)
      // A process that does not run cannot stop in good order.
      this.#leaving.push(kind === 'stop' && !this.#paused.has(name) ? instance.stop() : instance.kill())
      this.#paused.delete(name)
      if (kind === 'killAndLose') this.driver.wipe(name)
    }
  }

  /** All stop, and one begins with nothing but the changelogs: it has the same rows. */
  async checkChangelogs(): Promise<void> {
    const before = await this.#rows()
    for (const [name, instance] of this.#running) {
      await instance.stop()
      this.driver.wipe(name)
    }
    this.#running.clear()
    this.#running.set('a', await this.driver.start('a'))
    assert.deepEqual(await this.#rows(), before)
  }

  async #rows(): Promise<Record<number, string[]>> {
    await this.driver.digests()
    const rows = this.driver
      .owners()
      .map(async ({ partition, rows: { store } }) => [partition, await TestCluster.rowsOf(store)] as const)
    return Object.fromEntries(await Promise.all(rows))
  }

  #resume(name: Name, { process }: TestInstance): void {
    process.resume()
    this.#paused.delete(name)
  }

  /** Each standby holds what its owner holds, to the row, the engine's own rows too. */
  async checkStandbys(): Promise<void> {
    await this.driver.advance(1500, 250)
    for (const { application } of this.#running.values()) {
      for (const standby of application.standbys) {
        const owner = this.driver.owners().find(({ partition }) => partition === standby.partition)
        assert.equal(standby.state, 'RUNNING')
        assert.deepEqual(await TestCluster.rowsOf(standby.rows.store), await TestCluster.rowsOf(owner!.rows.store))
      }
    }
  }
}

t.setTimeout(300_000)

t.test(
  'whatever befalls the instances, each partition has one state, that of its journal, and totals are exact',
  async () => {
    const property = fc.asyncProperty(story, fc.integer({ min: 0, max: 2 }), async (actions, standbyReplicas) => {
      const cluster = new TestCluster({ processors: [countingProcessor], partitions: PARTITIONS, standbyReplicas })
      await cluster.open()
      const run = new ClusterRun(cluster)
      await run.act({ kind: 'start', name: 'a' })
      for (const step of actions) await run.act(step)
      await run.recover()
      await run.finish()
      const models = await checkRun(run)
      assert.deepEqual(sorted(totalsOf(models)), sorted(expectedTotals(actions)))
      await run.checkStandbys()
      await cluster.close()
    })
    const seed = Number(process.env.PULSEFOLD_TEST_SEED ?? 20261130)
    await fc.assert(property, { seed, numRuns: Number(process.env.PULSEFOLD_TEST_RUNS ?? 100) })
  },
)
