import fc from 'fast-check'
import { partitionOf } from '../partitioner.js'
import type { CountingModel } from './counting-model.js'
import type { Action } from './counting-run.js'

export const PARTITIONS = 3

/** Keys whose totals do not depend on the order in which events of several inputs come. */
const steadyKey = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
const steadyMode = fc.constantFrom(
  '',
  '',
  'once',
  'once',
  'send',
  'broadcast',
  'request',
  'deadLetter',
  'fail',
  'undeclared',
)
const otherKey = fc.constantFrom('x', 'y', 'z')
const otherMode = fc.constantFrom('', 'delete', 'survey', 'timer', 'cancel')
/** What a record of the input holds: `key:mode`. */
export const value = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(steadyKey, steadyMode).map((parts) => parts.join(':')) },
  { weight: 3, arbitrary: fc.tuple(otherKey, otherMode).map((parts) => parts.join(':')) },
  { weight: 1, arbitrary: fc.constantFrom('', 'skip') },
)
export const partition = fc.nat({ max: PARTITIONS - 1 })
export const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('records' as const),
      partition,
      values: fc.array(value, { minLength: 1, maxLength: 8 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.nat({ max: 5 }).map((n): Action => {
      return { kind: 'command', id: `command-${n}`, key: n % 2 === 0 ? 'p' : 'q', mode: n % 3 === 0 ? 'send' : '' }
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.constantFrom(20, 150, 400, 1200) }),
  },
)
/** What an action, or an accident, puts in: values of records, or a command. */
export interface Input {
  readonly kind: string
  readonly values?: readonly string[]
  readonly id?: string
  readonly key?: string
  readonly mode?: string
}

/** Totals of the steady keys that follow from what was sent. */
export function expectedTotals(actions: readonly Input[]): Map<string, number> {
  const expected = new Map<string, number>()
  const commands = new Set<string>()
  const add = (key: string, partition = partitionOf(key, PARTITIONS)): void => {
    expected.set(`${partition}/${key}`, (expected.get(`${partition}/${key}`) ?? 0) + 1)
  }
  const count = (key: string, mode: string): void => {
    if (mode === 'fail' || mode === 'undeclared') return
    add(key)
    if (mode === 'send') add(`${key}-sent`)
    if (mode === 'broadcast') for (let p = 0; p < PARTITIONS; p++) add(`${key}-everywhere`, p)
    if (mode === 'request') add(`${key}-echo`, partitionOf(key, PARTITIONS))
  }
  for (const action of actions) {
    if (action.values !== undefined) {
      for (const [key = '', mode = ''] of action.values.map((value) => value.split(':'))) {
        if (key >= 'a' && key <= 'f') count(key, mode)
      }
    } else if (action.id !== undefined && !commands.has(action.id)) {
      commands.add(action.id)
      count(action.key ?? '', action.mode ?? '')
    }
  }
  return expected
}

export function totalsOf(models: readonly CountingModel[]): Map<string, number> {
  return new Map(
    models.flatMap((model, partition) =>
      [...model.counts]
        .filter(([key]) => !'xyz'.includes(key[0] ?? ''))
        .map(([key, { count }]) => [`${partition}/${key}`, count] as const),
    ),
  )
}

export const sorted = (totals: ReadonlyMap<string, number>): [string, number][] =>
  [...totals].sort(([a], [b]) => (a < b ? -1 : 1))
