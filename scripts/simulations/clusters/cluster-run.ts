import assert from 'node:assert/strict'
import { instanceInProcess } from '../../../api/instances/in-process.js'
import { ensureError } from '../../../common/errors.js'
import { seededRandom } from '../../../common/random.js'
import type { Random } from '../../../common/random.js'
import { countingProcessor } from '../../../topology/counting-processor.js'
import { TestCluster } from '../../../topology/system/test-cluster.js'
import { turn } from '../../../topology/test-kit.js'
import type { TestInstance } from '../../../topology/system/test-cluster.js'
import { fairWeather, TestNetwork } from '../../../topology/system/test-network.js'
import type { Weather } from '../../../topology/system/test-network.js'
import { traceOf } from '../trace.js'
import { Clients } from './clients.js'
import { INPUT, Inputs } from './inputs.js'
import { NAMES, PARTITIONS } from './story.js'
import type { Accident, Act, Name, Step, Story } from './story.js'
import { failingLog, slowStore } from './trouble.js'
import type { Trouble } from './trouble.js'

const weathers: Readonly<Record<Extract<Accident, { kind: 'weather' }>['weather'], Weather>> = {
  fair: fairWeather,
  late: { ...fairWeather, delayMs: 7000 },
  lossy: { ...fairWeather, delayMs: 40, lostRequests: 0.2, lostAnswers: 0.3 },
  doubling: { ...fairWeather, delayMs: 400, repeated: 0.6 },
  cut: { ...fairWeather, isCut: true },
}

/** A cluster to which a story happens. */
export class ClusterRun {
  readonly cluster: TestCluster
  readonly clients: Clients
  readonly inputs: Inputs
  readonly #story: Story
  readonly #network: TestNetwork
  readonly #random: Random
  readonly #running = new Map<Name, TestInstance>()
  readonly #troubles = new Map<string, Trouble>()
  readonly #killAt = new Map<Name, { readonly step: string; left: number }>()
  /** A group waits for its paused members, and who leaves it waits along. */
  readonly #leaving: Promise<void>[] = []
  readonly #states: string[] = []

  constructor(story: Story) {
    this.#story = story
    this.#random = seededRandom(story.chance)
    const { standbyReplicas } = story
    this.cluster = new TestCluster({ processors: [countingProcessor], partitions: PARTITIONS, standbyReplicas })
    this.cluster.wrapLog = (name, log) => failingLog(log, this.#trouble(name), this.#random)
    this.cluster.wrapStore = (name, _store, opened) =>
      slowStore(opened, this.#trouble(name), this.cluster.clock, this.#random)
    this.#network = new TestNetwork(this.cluster.clock, this.#random, () => this.cluster.stir())
    this.clients = new Clients(this.cluster, this.#network)
    this.inputs = new Inputs(this.cluster)
  }

  async run(): Promise<void> {
    await this.cluster.open()
    await this.inputs.open()
    for (const name of NAMES.slice(0, this.#story.instances)) await this.#start(name)
    await this.cluster.settle()
    for (const step of this.#story.steps) await this.#take(step)
    await this.#recover()
    await this.#finish()
  }

  get instances(): readonly TestInstance[] {
    return [...this.#running.values()]
  }

  /** All stop, and one begins with nothing but the changelogs. */
  async restartOnNothing(): Promise<void> {
    for (const [name, instance] of this.#running) {
      await instance.stop()
      this.cluster.wipe(name)
    }
    this.#running.clear()
    await this.#start('a')
    await this.cluster.settle()
  }

  /** Of all that happened: equal for equal runs. */
  trace(): Promise<string> {
    return traceOf(this.cluster, [...this.clients.trace, ...this.#states])
  }

  async #take({ what, turns }: Step): Promise<void> {
    await this.#act(what)
    if (turns === 0) await this.cluster.settle()
    for (let i = 0; i < turns; i++) await turn()
    this.#buryDead()
  }

  async #act(what: Act | Accident): Promise<void> {
    switch (what.kind) {
      case 'records':
        return this.inputs.send(what.partition, what.values)
      case 'advance':
        return this.cluster.advance(what.ms, what.ms >= 1000 ? 200 : 50)
      case 'compact':
        return this.cluster.log.clean()
      case 'remakeInput':
        return this.inputs.remake(what.partitions)
      case 'weather':
        this.#network.weather = weathers[what.weather]
        return undefined
      case 'command':
      case 'ingest':
      case 'ask':
      case 'askAll':
      case 'restartSources': {
        const via = this.#running.get(what.via) ?? this.instances[0]
        if (via !== undefined) this.#call(via, what)
        return undefined
      }
      case 'slowStores':
        this.#trouble(what.name).storeMs = what.ms
        return undefined
      case 'logFails':
        this.#trouble(what.name).logFails = what.share
        return undefined
      default:
        return this.#befall(what)
    }
  }

  #call(via: TestInstance, what: Extract<Act | Accident, { via: Name }>): void {
    if (what.kind === 'command') this.clients.command(via, what)
    else if (what.kind === 'ingest') this.clients.post(via, what.key)
    else if (what.kind === 'ask') this.clients.ask(via, what.key, what.demand)
    else if (what.kind === 'askAll') this.clients.askAll(via, what.key)
    else void this.#restartSources(via)
  }

  async #restartSources(via: TestInstance): Promise<void> {
    for (const partition of this.inputs.current.partitions.keys()) {
      const act = { actor: 'operator', reason: 'made anew' }
      const restart = (): Promise<unknown> => via.application.restartSource({ topic: INPUT, partition }, act)
      await via.process.running(restart).catch(() => undefined)
    }
  }

  async #befall(what: Extract<Accident, { name: Name }>): Promise<void> {
    const { kind, name } = what
    const instance = this.#running.get(name)
    if (instance === undefined) {
      if (kind === 'start') await this.#start(name)
      return
    }
    const { process } = instance
    if (kind === 'start') process.resume()
    else if (kind === 'pause') process.pause()
    else if (kind === 'forget') this.#leaving.push(...(process.isPaused ? [process.forget()] : []))
    else if (kind === 'loseLease') {
      if (!process.isPaused) this.#leaving.push(process.loseLease(what.unawareMs))
    } else if (kind === 'killAt') this.#killAt.set(name, { step: what.step, left: what.nth })
    else if (kind === 'repeatBatches') process.repeatBatches(what.count)
    else if (kind === 'stop' || kind === 'kill' || kind === 'killAndLose') {
      this.#running.delete(name)
      // A process that does not run cannot stop in good order.
      this.#leaving.push(kind === 'stop' && !process.isPaused ? instance.stop() : instance.kill())
      if (kind === 'killAndLose') this.cluster.wipe(name)
    }
    this.#repeatCommands()
  }

  async #start(name: Name): Promise<void> {
    const { skewMs = 0, rate = 1 } = this.#story.clocks[NAMES.indexOf(name)] ?? {}
    this.#killAt.delete(name)
    const instance = this.cluster.create(name, {
      ...{ skewMs, clockRate: rate },
      probe: (step) => this.#probe(name, instance, step),
    })
    this.#running.set(name, instance)
    const { application, token, process, url } = instance
    this.#network.listen(url, process, await instanceInProcess({ local: application, token }))
    // Who cannot start ends.
    this.cluster.join(instance).catch(() => void instance.kill())
    this.#repeatCommands()
  }

  #probe(name: Name, instance: TestInstance, step: string): Promise<void> {
    const wanted = this.#killAt.get(name)
    if (wanted?.step !== step || this.#running.get(name) !== instance || --wanted.left > 0) return Promise.resolve()
    this.#killAt.delete(name)
    this.#leaving.push(instance.kill())
    return new Promise(() => undefined)
  }

  #buryDead(): void {
    for (const [name, { process }] of this.#running) if (process.hasEnded) this.#running.delete(name)
  }

  #repeatCommands(): void {
    const [instance] = this.instances.filter(({ process }) => !process.isPaused)
    if (instance !== undefined) this.clients.repeatCommands(instance)
  }

  #trouble(name: string): Trouble {
    const trouble = this.#troubles.get(name) ?? { logFails: 0, storeMs: 0 }
    this.#troubles.set(name, trouble)
    return trouble
  }

  /** All that is wrong ends, all paused go on, and one instance at least runs. */
  async #recover(): Promise<void> {
    this.#network.weather = fairWeather
    this.#killAt.clear()
    for (const trouble of this.#troubles.values()) Object.assign(trouble, { logFails: 0, storeMs: 0 })
    this.#buryDead()
    for (const { process } of this.instances) process.resume()
    await this.#until(Promise.all(this.#leaving))
    if (this.#running.size === 0) await this.#start('a')
    await this.cluster.advance(10_000, 250)
    const [via] = this.instances
    if (via !== undefined) await this.#restartSources(via)
    await this.cluster.advance(8000, 500)
  }

  /** Lets time pass until the work is done. */
  async #until(work: Promise<unknown>): Promise<void> {
    const state = { isDone: false }
    void work.finally(() => (state.isDone = true)).catch(() => undefined)
    for (let passedMs = 0; passedMs < 60_000 && (!state.isDone || passedMs < 1000); passedMs += 500) {
      await this.cluster.advance(500, 100)
    }
    assert.ok(state.isDone, 'who left is gone within a minute')
    await work
  }

  /** Lets all deadlines, retries and waits of takeovers pass, and all open calls end. */
  async #finish(): Promise<void> {
    await this.cluster.advance(3000, 100)
    await this.cluster.advance(90_000, 5000)
    this.#repeatCommands()
    await this.cluster.advance(1500, 100)
    for (const { name, states, setAside } of this.instances) {
      this.#states.push(`${name} ${states.join()} ${setAside.join()}`)
    }
    if (this.clients.failure !== undefined) throw ensureError(this.clients.failure)
    assert.ok(this.#running.size > 0, 'an instance runs')
  }
}
