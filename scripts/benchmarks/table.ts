import { verdictOf } from './figure.js'
import type { Figure, Unit } from './figure.js'
import type { RowResult } from './run-row.js'

const HEADER = ['row', 'what', 'figure', 'must be, compared with', 'verdict']
/** The figures stand right-aligned. */
const FIGURE_COLUMN = 2

/** The results as one table of text. */
export function tableOf(results: readonly RowResult[]): string {
  const lines = results.flatMap(({ row, figures, failure }) => [
    ...figures.map((figure) => [
      row,
      figure.what,
      numberText(figure.value, figure.unit),
      demandText(figure),
      verdictOf(figure),
    ]),
    ...(failure === null ? [] : [[row, `not measured: ${failure}`, '', '', 'failed']]),
  ])
  const cells = [HEADER, ...lines]
  const widths = HEADER.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)))
  const rule = widths.map((width) => '-'.repeat(width))
  return [HEADER, rule, ...lines].map((line) => lineText(line, widths)).join('\n')
}

function lineText(line: readonly string[], widths: readonly number[]): string {
  const padded = line.map((cell, column) => {
    const width = widths[column] ?? 0
    return column === FIGURE_COLUMN ? cell.padStart(width) : cell.padEnd(width)
  })
  return padded.join('  ').trimEnd()
}

function demandText({ unit, atMost, atLeast, compared }: Figure): string {
  const demands = [
    ...(atMost === undefined ? [] : [`<= ${numberText(atMost, unit)}`]),
    ...(atLeast === undefined ? [] : [`>= ${numberText(atLeast, unit)}`]),
    ...(compared === undefined ? [] : [compared]),
  ]
  return demands.join('; ')
}

/** Three digits where they are few: 0.42 ms, 12.3 ms, 61,250 /s. */
function numberText(value: number, unit: Unit): string {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2
  return `${value.toLocaleString('en-US', { maximumFractionDigits: digits })} ${unit}`
}
