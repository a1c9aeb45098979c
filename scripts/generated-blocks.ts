import { metricsTable } from '../common/metrics-table.js'
import { settingsTable } from '../common/settings-text.js'
import { errorsTable } from './error-tables.js'
import { exitCodes } from './process/exit-codes.js'

/** Parts of the documentation that are made from the code, by the name in their marks. */
export const generatedBlocks: Readonly<Record<string, () => string>> = {
  settings: settingsTable,
  metrics: metricsTable,
  errors: errorsTable,
  'exit codes': exitCodesTable,
}

/** Files with such parts, from the project's folder. */
export const documentedFiles: readonly string[] = ['README.md', 'common/README.md']

// The marks keep Prettier off, which would widen every row to the longest.
const block =
  /(<!-- prettier-ignore-start -->\n<!-- generated: ([a-z ]+) -->\n)[\s\S]*?(\n<!-- prettier-ignore-end -->)/g

/** The text with every marked part made anew. Throws for a mark that nothing is made for. */
export function withGeneratedBlocks(text: string): string {
  return text.replace(block, (_all, start: string, name: string, end: string) => {
    const make = generatedBlocks[name]
    if (make === undefined) throw new Error(`nothing generates a block named ${name}`)
    return `${start}\n${make()}\n${end}`
  })
}

/** Names of the parts that the text marks. */
export function blocksIn(text: string): string[] {
  return [...text.matchAll(block)].map((match) => match[2] ?? '')
}

function exitCodesTable(): string {
  const rows = Object.values(exitCodes).map(({ code, meaning }) => `| ${code} | ${meaning} |`)
  return ['| exit code | meaning |', '| --- | --- |', ...rows].join('\n')
}
