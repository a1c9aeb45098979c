import type { Consequence } from '../task/folder.js'

/** Something that folds made for the outside: a record of an output topic, or an effect asked for. */
export interface Transition {
  /** The output topic, or `effect/kind`. */
  readonly channel: string
  readonly key: string
  readonly value: string
  /** Journal time, ms. */
  readonly time: number
}

/** A transition in which two runs differ: made in one only, or at another time. */
export interface TransitionDifference {
  readonly channel: string
  readonly key: string
  readonly value: string
  /** When it was made; null: it was not. */
  readonly before: number | null
  readonly after: number | null
}

/** How two runs differ in one kind of transition. */
export interface TransitionTotals {
  readonly channel: string
  readonly value: string
  readonly before: number
  readonly after: number
  readonly earlier: number
  readonly later: number
  /** Of those moved, mean of after less before, ms. */
  readonly meanShiftMs: number
}

export function transitionOf(consequence: Consequence, time: number): Transition | undefined {
  if (consequence.kind === 'output') {
    const { output, record } = consequence
    const value = typeof record.value === 'string' ? record.value : record.value.toString('base64')
    return { channel: output.topic, key: record.key, value, time }
  }
  if (consequence.kind === 'request') {
    const { kind, target, payload } = consequence.effect
    return { channel: `effect/${kind}`, key: target, value: JSON.stringify(payload), time }
  }
  return undefined
}

/** Pairs the transitions of two runs by kind and key, each with the nearest in time, in order; answers those not alike. */
export function transitionDifferences(
  before: readonly Transition[],
  after: readonly Transition[],
): readonly TransitionDifference[] {
  const pairs = new Map<string, { readonly kind: Transition; readonly before: number[]; readonly after: number[] }>()
  const note = (transition: Transition, side: 'before' | 'after'): void => {
    const { channel, key, value, time } = transition
    const name = JSON.stringify([channel, key, value])
    const pair = pairs.get(name) ?? { kind: transition, before: [], after: [] }
    pairs.set(name, pair)
    pair[side].push(time)
  }
  for (const transition of before) note(transition, 'before')
  for (const transition of after) note(transition, 'after')
  return [...pairs.values()]
    .flatMap(({ kind: { channel, key, value }, before, after }) =>
      paired(before, after).map(([one, other]) => ({ channel, key, value, before: one, after: other })),
    )
    .filter((one) => one.before !== one.after)
    .sort((a, b) => earliest(a) - earliest(b))
}

/** Totals by channel and value. */
export function transitionTotals(
  before: readonly Transition[],
  after: readonly Transition[],
  differences: readonly TransitionDifference[],
): readonly TransitionTotals[] {
  const totals = new Map<string, { -readonly [Name in keyof TransitionTotals]: TransitionTotals[Name] }>()
  const of = ({ channel, value }: Pick<Transition, 'channel' | 'value'>) => {
    const name = JSON.stringify([channel, value])
    const known = totals.get(name) ?? { channel, value, before: 0, after: 0, earlier: 0, later: 0, meanShiftMs: 0 }
    totals.set(name, known)
    return known
  }
  for (const transition of before) of(transition).before++
  for (const transition of after) of(transition).after++
  for (const difference of differences) {
    if (difference.before === null || difference.after === null) continue
    const total = of(difference)
    const moved = total.earlier + total.later
    const shift = difference.after - difference.before
    total.meanShiftMs = (total.meanShiftMs * moved + shift) / (moved + 1)
    if (shift < 0) total.earlier++
    else total.later++
  }
  return [...totals.values()]
}

/** Each of the shorter list with one of the longer; the rest stays alone. */
function paired(
  before: readonly number[],
  after: readonly number[],
): readonly (readonly [number | null, number | null])[] {
  if (before.length > after.length) return paired(after, before).map(([one, other]) => [other, one])
  const pairs: [number | null, number | null][] = []
  let next = 0
  for (const [i, time] of before.entries()) {
    const distance = (at: number): number => Math.abs((after[at] ?? Number.POSITIVE_INFINITY) - time)
    while (after.length - next > before.length - i && distance(next + 1) < distance(next)) {
      pairs.push([null, after[next++] ?? null])
    }
    pairs.push([time, after[next++] ?? null])
  }
  return [...pairs, ...after.slice(next).map((time): [null, number] => [null, time])]
}

function earliest({ before, after }: TransitionDifference): number {
  return Math.min(before ?? Number.POSITIVE_INFINITY, after ?? Number.POSITIVE_INFINITY)
}
