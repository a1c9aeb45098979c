import type { OnProgress } from './replay-journals.js'

/** How far several folds are that run one after another, each up to an offset; `part` is called as each begins. */
export function progressOver(
  ends: readonly number[],
  onProgress: OnProgress = () => undefined,
): { readonly part: () => (offset: number) => void } {
  const total = ends.reduce((sum, end) => sum + end, 0)
  let begun = 0
  let before = 0
  return {
    part() {
      const done = before
      before += ends[begun++] ?? 0
      return (offset) => onProgress(Math.min(total, done + offset), total)
    },
  }
}
