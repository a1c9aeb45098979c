import type { Random } from '../../common/random.js'

/** `count` different whole numbers from 0 to below `below`, in random order; all of them when there are no more. */
export function drawn(random: Random, count: number, below: number): readonly number[] {
  const numbers = Array.from({ length: below }, (_, index) => index)
  for (let index = 0; index < Math.min(count, below); index++) {
    const other = index + Math.floor(random() * (below - index))
    ;[numbers[index], numbers[other]] = [numbers[other] ?? 0, numbers[index] ?? 0]
  }
  return numbers.slice(0, count)
}
