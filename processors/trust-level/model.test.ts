import fc from 'fast-check'
import t from 'tap'
import { TRUST_LEVELS } from '../../schemas/trust-level/journal-events.js'
import type { TrustLevel } from '../../schemas/trust-level/journal-events.js'
import { checked, MINUTE_MS, TrustLevelKit } from './test-kit.js'

/** Trust levels as the page tells them, without rows, indexes, partitions or portions. */

const PLUGINS = ['http://dmi-1', 'http://dmi-2']
const HANDLES = ['a', 'b', 'c', 'd', 'e', 'f']

type Step =
  | {
      readonly kind: 'create'
      readonly handles: readonly string[]
      readonly plugin: string
      readonly level: TrustLevel | null
    }
  | { readonly kind: 'remove'; readonly handles: readonly string[] }
  | { readonly kind: 'report'; readonly handle: string; readonly level: TrustLevel; readonly ageMs: number }
  | { readonly kind: 'checks'; readonly up: readonly string[] }
  | { readonly kind: 'wait'; readonly ms: number }

const handles = fc.uniqueArray(fc.constantFrom(...HANDLES), { minLength: 1, maxLength: 4 })
const level = fc.constantFrom(...TRUST_LEVELS)

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('create' as const),
      handles,
      plugin: fc.constantFrom(...PLUGINS),
      level: fc.option(level),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), handles }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('report' as const),
      handle: fc.constantFrom(...HANDLES),
      level,
      ageMs: fc.constantFrom(0, 0, 0, 5_000, MINUTE_MS, 3 * MINUTE_MS, -MINUTE_MS, -10 * MINUTE_MS),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('checks' as const), up: fc.subarray(PLUGINS) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      ms: fc.constantFrom(1_000, 20_000, MINUTE_MS, 6 * MINUTE_MS),
    }),
  },
)

interface ModelHandle {
  plugin: string
  own: TrustLevel
  newestReport: number
}
interface ModelPending {
  own: TrustLevel
  eventTime: number
  until: number
  order: number
}

class Model {
  readonly handles = new Map<string, ModelHandle>()
  readonly pending = new Map<string, ModelPending>()
  readonly removedAt = new Map<string, number>()
  readonly plugins = new Map<string, { level: TrustLevel; returned: number }>()
  readonly #complete: boolean
  #order = 0

  constructor(complete: boolean) {
    this.#complete = complete
  }

  effective(handle: ModelHandle): TrustLevel {
    return this.plugins.get(handle.plugin)?.level === 'COMPLETE' ? handle.own : 'NONE'
  }

  setPlugin(name: string, level: TrustLevel): void {
    const plugin = this.plugins.get(name)
    this.#order++
    if (plugin === undefined) {
      this.plugins.set(name, { level, returned: -1 })
    } else if (plugin.level === 'NONE' && level === 'COMPLETE' && this.#complete) {
      for (const handle of this.handles.values()) if (handle.plugin === name) handle.own = 'COMPLETE'
      this.plugins.set(name, { level, returned: this.#order })
    } else {
      plugin.level = level
    }
  }

  create(id: string, plugin: string, named: TrustLevel | null, now: number): void {
    if (this.handles.has(id)) return
    const pending = this.#pendingAt(id, now)
    const taken = pending !== undefined && pending.order > (this.plugins.get(plugin)?.returned ?? -1)
    this.handles.set(id, {
      plugin,
      own: taken ? pending.own : (named ?? 'COMPLETE'),
      newestReport: pending?.eventTime ?? this.#removal(id, now) ?? 0,
    })
    this.pending.delete(id)
  }

  remove(id: string, now: number): void {
    if (this.handles.delete(id)) this.removedAt.set(id, now)
  }

  report(id: string, level: TrustLevel, eventTime: number, now: number): void {
    const time = eventTime > now + 5 * MINUTE_MS ? now : eventTime
    const handle = this.handles.get(id)
    this.#order++
    if (handle !== undefined) {
      if (time >= handle.newestReport) Object.assign(handle, { own: level, newestReport: time })
      return
    }
    const pending = this.#pendingAt(id, now)
    if (time < (pending?.eventTime ?? this.#removal(id, now) ?? 0)) return
    this.pending.set(id, { own: level, eventTime: time, until: now + 5 * MINUTE_MS, order: this.#order })
  }

  #pendingAt(id: string, now: number): ModelPending | undefined {
    const pending = this.pending.get(id)
    return pending !== undefined && now < pending.until ? pending : undefined
  }

  /** Known for as long as a level may be pending. */
  #removal(id: string, now: number): number | undefined {
    const at = this.removedAt.get(id)
    return at !== undefined && now < at + 5 * MINUTE_MS ? at : undefined
  }
}

async function runs(steps: readonly Step[], onDmiRestart: 'complete' | 'keep'): Promise<void> {
  const kit = new TrustLevelKit({ onDmiRestart })
  const model = new Model(onDmiRestart === 'complete')
  // Known from the start to the end, so that neither is forgotten.
  for (const plugin of PLUGINS) {
    kit.register({ plugins: { dmiPlugin: plugin }, created: [`of ${plugin}`.replace(/\W/g, '-')] })
    model.setPlugin(plugin, 'COMPLETE')
    model.create(`of ${plugin}`.replace(/\W/g, '-'), plugin, null, kit.time)
  }
  const announced = new Map<string, TrustLevel>()
  for (const step of steps) {
    apply(step, kit, model)
    for (const output of kit.outputs.splice(0)) {
      const text = String(output.value)
      const old = /"oldAttributeValue":"(\w+)"/.exec(text)?.[1]
      const to = (/"newAttributeValue":"(\w+)"/.exec(text)?.[1] ?? '') as TrustLevel
      if (old === undefined) announced.delete(output.key)
      const known = announced.get(output.key) ?? 'COMPLETE'
      if (old !== undefined && (old !== known || old === to)) throw new Error(`notice ${text} after ${known}`)
      announced.set(output.key, to)
    }
    for (const id of announced.keys()) if (!model.handles.has(id)) announced.delete(id)
    const byLevel = new Map<string, TrustLevel>()
    for (const found of TRUST_LEVELS)
      for (const id of await kit.search({ kind: 'trustLevel', level: found })) byLevel.set(id, found)
    const views = new Map((await kit.searchViews({ conditions: [] })).map((view) => [view.cmHandle, view.trustLevel]))
    if (byLevel.size !== model.handles.size || views.size !== model.handles.size) {
      throw new Error(`${model.handles.size} handles, but found ${byLevel.size} by level, ${views.size} in all`)
    }
    for (const [id, handle] of model.handles) {
      const said = [await kit.level(id), byLevel.get(id), views.get(id), announced.get(id) ?? 'COMPLETE']
      const right = model.effective(handle)
      if (said.some((one) => one !== right)) {
        throw new Error(
          `${id} is ${right}; read, search, view, notices say ${said.join()} after ${JSON.stringify(step)}`,
        )
      }
    }
  }
  if (kit.replayed().digest() !== kit.digest()) throw new Error('a replay comes to another state')
}

function apply(step: Step, kit: TrustLevelKit, model: Model): void {
  switch (step.kind) {
    case 'create':
      model.setPlugin(step.plugin, 'COMPLETE')
      for (const id of step.handles) model.create(id, step.plugin, step.level, kit.time)
      kit.register({
        plugins: { dmiPlugin: step.plugin },
        created: step.handles.map((cmHandle) => ({ cmHandle, trustLevel: step.level })),
      })
      break
    case 'remove':
      for (const id of step.handles) model.remove(id, kit.time)
      kit.register({ plugins: { dmiPlugin: PLUGINS[0] ?? '' }, removed: step.handles })
      model.setPlugin(PLUGINS[0] ?? '', 'COMPLETE')
      break
    case 'report':
      model.report(step.handle, step.level, kit.time - step.ageMs, kit.time)
      kit.heartbeat(step.handle, step.level, kit.time - step.ageMs)
      break
    case 'checks':
      kit.advance(28_000)
      kit.perform(({ target }) => {
        model.setPlugin(target, step.up.includes(target) ? 'COMPLETE' : 'NONE')
        return checked(target, step.up.includes(target))
      })
      break
    case 'wait':
      kit.advance(step.ms)
      break
  }
}

for (const onDmiRestart of ['complete', 'keep'] as const) {
  t.test(
    `every read, search and sum of notices agrees with a plain model (onDmiRestart ${onDmiRestart})`,
    async (t) => {
      const seed = Number(process.env['FAST_CHECK_SEED'] ?? (onDmiRestart === 'keep' ? 1 : 2))
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), (steps) => runs(steps, onDmiRestart)),
        { seed, numRuns: 150 },
      )
      t.pass('150 journals')
    },
  )
}
