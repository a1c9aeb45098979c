import assert from 'node:assert/strict'
import type { Counted } from '../counting-processor.js'
import type { NewRecord } from '../log/log.js'
import { names } from '../names.js'
import type { TaskEnvironment } from '../task/environment.js'
import type { TopologyTestDriver } from '../test-driver.js'
import { countingModel } from './counting-model.js'
import type { CountingModel } from './counting-model.js'

/** Something done to a topology from outside. */
export type Action =
  /** Records of the input topic; each value is `key:mode`. */
  | { readonly kind: 'records'; readonly partition: number; readonly values: readonly string[] }
  | { readonly kind: 'command'; readonly id: string; readonly key: string; readonly mode: string }
  | { readonly kind: 'advance'; readonly ms: number }

export const JOURNAL = names.journal('test', 'counting')
export const CHANGELOG = names.changelog('test', 'counts')
const COMMAND_TIMEOUT_MS = 30_000

export const inputRecord = (value: string): NewRecord => ({ key: null, value: Buffer.from(value) })

/** A topology that a test drives: one instance, or a cluster. */
export type Driven = Pick<
  TopologyTestDriver,
  'partitions' | 'pipe' | 'settle' | 'advance' | 'read' | 'deadLetters' | 'digests'
> & { readonly application: Pick<TopologyTestDriver['application'], 'command'> }

/** Drives the counting processor through actions, and what comes in between; a client of commands that repeats them. */
export class CountingRun<Driver extends Driven = TopologyTestDriver> {
  readonly driver: Driver
  /** Command id → answer. */
  readonly answers = new Map<string, unknown>()
  readonly #open = new Map<string, Extract<Action, { kind: 'command' }>>()

  constructor(driver: Driver) {
    this.driver = driver
  }

  async do(action: Action): Promise<void> {
    const { driver } = this
    switch (action.kind) {
      case 'records':
        return driver.pipe('count-me', action.values.map(inputRecord), action.partition)
      case 'command':
        this.#open.set(action.id, action)
        this.#send(action)
        return driver.settle()
      case 'advance':
        return driver.advance(action.ms)
    }
  }

  /** The end of the process, `meanwhile`, and a new start; commands without an answer are sent again. */
  async restart(this: CountingRun, meanwhile: () => void | Promise<void> = () => undefined): Promise<void> {
    this.driver.crash()
    await meanwhile()
    await this.driver.start()
    await this.repeatCommands()
  }

  async repeatCommands(): Promise<void> {
    for (const command of this.#open.values()) this.#send(command)
    await this.driver.settle()
  }

  /** Lets all deadlines, retries and waits of takeovers pass. */
  async finish(): Promise<void> {
    await this.driver.advance(3000, 100)
    await this.driver.advance(70_000, 5000)
    await this.repeatCommands()
    await this.driver.advance(1500, 100)
  }

  #send({ id, key, mode }: Extract<Action, { kind: 'command' }>): void {
    const event: Counted = { type: 'Counted', data: { key, mode } }
    const options = { commandId: id, actor: 'tester', timeoutMs: COMMAND_TIMEOUT_MS }
    void this.driver.application.command('counting', { key }, event, options).then((result) => {
      if (!result.ok) return
      this.#open.delete(id)
      if (!this.answers.has(id)) this.answers.set(id, result.answer)
      else assert.deepEqual(result.answer, this.answers.get(id), `command ${id} has one answer`)
    })
  }
}

/** What the journals as they are must have come to, by partition. */
export async function modelsOf(driver: Pick<Driven, 'read' | 'partitions'>): Promise<CountingModel[]> {
  const records = await driver.read(JOURNAL)
  return Array.from({ length: driver.partitions }, (_, partition) =>
    countingModel(
      JOURNAL,
      partition,
      driver.partitions,
      records.filter((record) => record.partition === partition),
    ),
  )
}

/** Holds stores, outputs, dead letters and answers to what the journals say; answers the models. Throws where they differ. */
export async function checkRun(run: Pick<CountingRun<Driven>, 'driver' | 'answers'>): Promise<CountingModel[]> {
  const { driver } = run
  const models = await modelsOf(driver)
  const digests = models.map(({ digest }, partition) => [`counting/${partition}`, digest] as const)
  assert.deepEqual(await driver.digests(), Object.fromEntries(digests), 'digests')
  const outputs = sortedEntries(models.map((model) => model.outputs))
  assert.deepEqual(await outputsOf(driver), outputs, 'outputs, repeats left out')
  const notices = sortedEntries(models.map((model) => model.notices))
  assert.deepEqual(await noticesOf(driver), notices, 'outputs declared once, repeats not left out')
  const letters = [...(await deadLettersOf(driver))].filter((letter) => !letter.endsWith(' EMPTY'))
  const wanted = new Set(models.flatMap((model) => [...model.deadLetters]))
  assert.deepEqual(letters.sort(), [...wanted].sort(), 'dead letters')
  for (const [id, answer] of run.answers) {
    const kept = models.map((model) => model.answers.get(id)).find((candidate) => candidate !== undefined)
    if (kept !== undefined) assert.deepEqual(answer, kept, `answer of ${id}`)
  }
  for (const { owed, armed } of models) {
    assert.deepEqual([...owed], [], 'nothing is owed')
    assert.deepEqual(
      [...armed].filter((deadline) => deadline.includes(' wake/')),
      [],
      'every deadline has fired',
    )
  }
  return models
}

/** `id value` of each output; a repeat must be the same to the byte. */
export async function outputsOf(driver: Pick<Driven, 'read'>): Promise<string[]> {
  const outputs = new Map<string, string>()
  for (const { value, headers } of await driver.read('count-changes')) {
    const id = headers.find(([name]) => name === 'ce_id')?.[1].toString() ?? ''
    const text = value?.toString() ?? ''
    const before = outputs.get(id)
    if (before !== undefined) assert.equal(text, before, `a repeat of output ${id} is the same`)
    outputs.set(id, text)
  }
  return sortedEntries([outputs])
}

/** `id value` of each record of the topic where none may repeat. */
async function noticesOf(driver: Pick<Driven, 'read'>): Promise<string[]> {
  const records = await driver.read('count-notices')
  return records
    .map(({ value, headers }) => {
      const id = headers.find(([name]) => name === 'ce_id')?.[1].toString() ?? ''
      return `${id} ${value?.toString() ?? ''}`
    })
    .sort()
}

/** `topic/partition/offset code`. */
export async function deadLettersOf(driver: Pick<Driven, 'deadLetters'>): Promise<Set<string>> {
  const letters = (await driver.deadLetters()).map(({ headers }) => {
    const of = (name: string): string =>
      headers.find(([candidate]) => candidate === `__streams.errors.${name}`)?.[1].toString() ?? ''
    return `${of('topic')}/${of('partition')}/${of('offset')} ${of('exception')}`
  })
  return new Set(letters)
}

/** What must be the same however often the process died: counts by partition and key, without journal positions. */
export function businessOf(models: readonly CountingModel[]): Record<string, object> {
  return Object.fromEntries(
    models.flatMap((model, partition) =>
      [...model.counts]
        .map(([key, { count, woken }]) => [`${partition}/${key}`, { count, woken }] as const)
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    ),
  )
}

/** A probe that never lets the task go on from the `nth` time it comes to a step; `stopped` tells when. */
export function stopAt(
  step: string,
  partition: number,
  nth: number,
): { readonly stopped: () => boolean; readonly probe: NonNullable<TaskEnvironment['probe']> } {
  let times = 0
  return {
    stopped: () => times >= nth,
    probe: (at, of) => {
      if (at !== step || of !== partition || ++times !== nth) return Promise.resolve()
      return new Promise(() => undefined)
    },
  }
}

function sortedEntries(maps: readonly ReadonlyMap<string, string>[]): string[] {
  return maps.flatMap((map) => [...map].map(([id, value]) => `${id} ${value}`)).sort()
}
