/** Binary search: for how many of the first `length` indexes `holds` is true, all of those being in front. */
export function countWhile(length: number, holds: (index: number) => boolean): number {
  let low = 0
  let high = length
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(middle)) low = middle + 1
    else high = middle
  }
  return low
}
