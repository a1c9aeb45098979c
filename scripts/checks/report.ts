import { inspect } from 'node:util'
import type { StageResult } from './check-stage.js'
import type { TestFileResult } from './run-test-file.js'

/** The whole outcome: each stage counts as one check, each assertion of a test file as one. */
export interface Summary {
  readonly passed: number
  readonly failed: number
  /** The last line of the output, for whoever reads no more than that. */
  readonly line: string
}

/** Adds up. No test file at all is a failure: then something looked in the wrong place. */
export function summarize(stages: readonly StageResult[], files: readonly TestFileResult[]): Summary {
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
  const passed = sum(files.map((file) => file.passed)) + stages.filter((stage) => stage.ok).length
  const failedStages = stages.filter((stage) => !stage.ok).length
  const failed = sum(files.map((file) => file.failed)) + failedStages + (files.length === 0 ? 1 : 0)
  return { passed, failed, line: `${passed} passed, ${failed} failed` }
}

export function describeStage(stage: StageResult): string {
  return stage.ok ? `ok      ${stage.name}` : `FAILED  ${stage.name}\n${indent(stage.output.trimEnd())}`
}

export function describeFile(result: TestFileResult): string {
  const head = `${result.failed === 0 ? 'ok    ' : 'FAILED'}  ${result.file}  ${result.passed} passed`
  const counts = result.failed === 0 ? '' : `, ${result.failed} failed`
  const lines = [`${head}${counts}  (${result.durationMs} ms)`]
  for (const failure of result.failures) {
    lines.push(indent(`- ${failure.name}`))
    if (failure.diagnostics !== undefined) lines.push(indent(indent(text(failure.diagnostics))))
  }
  if (result.failed > 0 && result.errorOutput !== '') lines.push(indent(result.errorOutput.trimEnd()))
  return lines.join('\n')
}

/** Names what was left out, and how to have it run; empty when nothing was. */
export function describeSkipped(files: readonly TestFileResult[]): string {
  const all = files.flatMap((file) => file.skipped.map((skip) => ({ file: file.file, ...skip })))
  if (all.length === 0) return ''
  const lines = all.map((skip) => `  - ${skip.file}: ${skip.name}\n    to run it: ${skip.reason}`)
  return [`NOT RUN: ${all.length} left out`, ...lines].join('\n')
}

function text(diagnostics: unknown): string {
  if (typeof diagnostics !== 'object' || diagnostics === null) return inspect(diagnostics)
  return Object.entries(diagnostics)
    .map(([key, value]: [string, unknown]) => {
      const shown = typeof value === 'string' ? value : inspect(value, { depth: 6, breakLength: 110 })
      return shown.includes('\n') ? `${key}:\n${indent(shown.trimEnd())}` : `${key}: ${shown}`
    })
    .join('\n')
}

function indent(lines: string): string {
  return lines.replace(/^/gm, '    ')
}
