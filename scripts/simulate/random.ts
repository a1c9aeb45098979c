/** Numbers from 0 to below 1. */
export type Random = () => number

/** The same numbers for the same seed: mulberry32, by Tommy Ettinger. */
export function seededRandom(seed: number): Random {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** `count` different whole numbers from 0 to below `below`, in random order; all of them when there are no more. */
export function drawn(random: Random, count: number, below: number): readonly number[] {
  const numbers = Array.from({ length: below }, (_, index) => index)
  for (let index = 0; index < Math.min(count, below); index++) {
    const other = index + Math.floor(random() * (below - index))
    ;[numbers[index], numbers[other]] = [numbers[other] ?? 0, numbers[index] ?? 0]
  }
  return numbers.slice(0, count)
}
