import { escapeControls } from '../../common/errors.js'
import type { FoldWork } from '../../topology/audit/journal-fold.js'
import type { Gap } from '../../topology/audit/journal-source.js'

/** A line for a terminal, whatever texts of others are in it; parts of a row's key have a slash between them, as in what is asked for. */
export function shownLine(line: string): string {
  return escapeControls(line.replaceAll('\u0000', '/'))
}

/** What may be incomplete, in words: a line each. */
export function gapLines(gaps: readonly Gap[], unreadable: readonly string[] = []): readonly string[] {
  return [
    ...gaps.map(({ topic, partition, from, to, loadedAt }) => {
      if (loadedAt === null) {
        const what = `records ${from} to ${to - 1} are the other site's and were not loaded here`
        return `GAP ${topic}/${partition}: ${what}; all that depends on them may differ`
      }
      if (loadedAt !== undefined) {
        const which = to === 0 ? 'records' : `records ${from} to ${to - 1}`
        const what = `${which} were loaded at record ${loadedAt} of this site's journal and are not in it`
        return `GAP ${topic}/${partition}: ${what}; all behind that may differ`
      }
      if (to === 0)
        return `GAP ${topic}/${partition}: nothing of it is in what was read; all that depends on it may differ`
      return `GAP ${topic}/${partition}: records ${from} to ${to - 1} are missing; all that depends on them may differ`
    }),
    ...unreadable.map((message) => `SKIPPED ${message}`),
  ]
}

/** What an answer took, in words. */
export function workText({ from, entries }: FoldWork): string {
  return `${entries} entries folded from offset ${from} on`
}

export function timeText(ms: number): string {
  return new Date(ms).toISOString()
}

/** A flat object in one line: `name value, name value`. */
export function flatText(values: Readonly<Record<string, unknown>> | null): string {
  if (values === null) return 'nothing'
  return Object.entries(values)
    .map(([name, value]) => `${name} ${valueText(name, value)}`)
    .join(', ')
}

/** Times are those that stand near now. */
export function valueText(name: string, value: unknown): string {
  if (value === undefined || value === null) return 'nothing'
  const isTime = typeof value === 'number' && value > 1e12 && value < 4e12 && !/offset|index|number/i.test(name)
  return isTime ? timeText(value) : typeof value === 'string' ? value : JSON.stringify(value)
}

/** An event about many keys names a rule for each. */
export function repeatedOnce(lines: readonly string[]): readonly string[] {
  const times = new Map<string, number>()
  for (const line of lines) times.set(line, (times.get(line) ?? 0) + 1)
  return [...times].map(([line, count]) => (count === 1 ? line : `${line} (${count} times)`))
}
