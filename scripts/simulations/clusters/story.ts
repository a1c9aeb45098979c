import fc from 'fast-check'
import type { TaskStep } from '../../../topology/task/environment.js'
import { taskSteps } from '../../../topology/task/environment.js'
import { value } from '../../../topology/system/random-actions.js'

export const NAMES = ['a', 'b', 'c', 'd'] as const
export type Name = (typeof NAMES)[number]
export const PARTITIONS = 3
/** Of the input topic, when it is made anew. */
const MAX_INPUT_PARTITIONS = 5

/** What clients and producers do. */
export type Act =
  | { readonly kind: 'records'; readonly partition: number; readonly values: readonly string[] }
  /** Given to an instance under its id, and to others until one answers. */
  | { readonly kind: 'command'; readonly id: string; readonly key: string; readonly mode: string; readonly via: Name }
  | { readonly kind: 'ingest'; readonly key: string; readonly via: Name }
  | { readonly kind: 'ask'; readonly key: string; readonly demand: DemandKind; readonly via: Name }
  /** All partitions at once. */
  | { readonly kind: 'askAll'; readonly key: string; readonly via: Name }
  | { readonly kind: 'advance'; readonly ms: number }

/** `own`: the position of what the same client has written last; `fresh`: at most 300 ms stale; `active`: of the owner. */
export type DemandKind = 'any' | 'own' | 'fresh' | 'active'

/** What befalls instances, log, network and disks. */
export type Accident =
  /** It is started, or goes on when it was paused. */
  | { readonly kind: 'start' | 'stop' | 'kill' | 'killAndLose' | 'pause'; readonly name: Name }
  /** Paused for longer than a session: the group goes on without it. */
  | { readonly kind: 'forget'; readonly name: Name }
  /** Its heartbeats are lost: the group goes on without it, and for so long it does not know. */
  | { readonly kind: 'loseLease'; readonly name: Name; readonly unawareMs: number }
  /** It dies when one of its tasks comes to this step for the nth time from now on. */
  | { readonly kind: 'killAt'; readonly name: Name; readonly step: TaskStep; readonly nth: number }
  | { readonly kind: 'repeatBatches'; readonly name: Name; readonly count: number }
  /** So many ms each store operation takes at most; 0: none. */
  | { readonly kind: 'slowStores'; readonly name: Name; readonly ms: number }
  /** So large a share of its calls of the log fail: half of the appends are there all the same. */
  | { readonly kind: 'logFails'; readonly name: Name; readonly share: number }
  | { readonly kind: 'weather'; readonly weather: 'fair' | 'late' | 'lossy' | 'doubling' | 'cut' }
  | { readonly kind: 'compact' }
  | { readonly kind: 'remakeInput'; readonly partitions: number }
  /** An operator lets the stopped sources begin anew. */
  | { readonly kind: 'restartSources'; readonly via: Name }

export interface Step {
  readonly what: Act | Accident
  /** Turns of the event loop until the next step; 0: until nothing moves. */
  readonly turns: number
}

export interface Story {
  /** Instances at the start. */
  readonly instances: number
  readonly standbyReplicas: number
  /** Of the numbers that network, disks and failing logs draw. */
  readonly chance: number
  /** How far wall clocks are apart, ms, and how much faster or slower than the world's each instance's clock runs. */
  readonly clocks: readonly { readonly skewMs: number; readonly rate: number }[]
  readonly steps: readonly Step[]
}

const name = fc.constantFrom(...NAMES)
const key = fc.constantFrom('a', 'b', 'c', 'd', 'p', 'q', 'x')

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('records' as const),
      partition: fc.nat({ max: MAX_INPUT_PARTITIONS - 1 }),
      values: fc.array(fc.oneof({ weight: 9, arbitrary: value }, { weight: 1, arbitrary: fc.constant('a:intake') }), {
        minLength: 1,
        maxLength: 6,
      }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('command' as const),
      id: fc.nat({ max: 9 }).map((n) => `command-${n}`),
      key: fc.constantFrom('p', 'q', 'r'),
      mode: fc.constantFrom('', '', 'send', 'once', 'fail'),
      via: name,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('ingest' as const), key, via: name }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('ask' as const),
      key,
      demand: fc.constantFrom('any', 'any', 'own', 'fresh', 'active'),
      via: name,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('askAll' as const), key, via: name }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.constantFrom(20, 150, 400, 1200, 6000) }),
  },
)

const accident: fc.Arbitrary<Accident> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constantFrom('start', 'start', 'start', 'kill', 'stop', 'killAndLose', 'pause', 'forget'),
      name,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('loseLease' as const),
      name,
      unawareMs: fc.constantFrom(0, 100, 2000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('killAt' as const),
      name,
      step: fc.constantFrom(...taskSteps),
      nth: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('repeatBatches' as const),
      name,
      count: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('slowStores' as const), name, ms: fc.constantFrom(300, 20, 2000, 0) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('logFails' as const), name, share: fc.constantFrom(0.1, 0.3, 0.6, 0) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('weather' as const),
      weather: fc.constantFrom('fair', 'late', 'lossy', 'doubling', 'cut'),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'compact' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('remakeInput' as const),
      partitions: fc.integer({ min: PARTITIONS, max: MAX_INPUT_PARTITIONS }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restartSources' as const), via: name }) },
)

export const story: fc.Arbitrary<Story> = fc.record({
  instances: fc.integer({ min: 2, max: 4 }),
  standbyReplicas: fc.integer({ min: 0, max: 2 }),
  chance: fc.integer(),
  clocks: fc.tuple(
    ...NAMES.map(() => fc.record({ skewMs: fc.constantFrom(0, -90_000, 45_000), rate: fc.constantFrom(1, 0.8, 1.25) })),
  ),
  steps: fc.array(
    fc.record({
      what: fc.oneof({ weight: 3, arbitrary: act }, { weight: 2, arbitrary: accident }),
      turns: fc.oneof({ weight: 1, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat({ max: 12 }) }),
    }),
    { minLength: 8, maxLength: 40 },
  ),
})
