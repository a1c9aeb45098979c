import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runStage } from './checks/check-stage.js'
import type { StageResult } from './checks/check-stage.js'
import { describeFile, describeSkipped, describeStage, summarize } from './checks/report.js'
import { runTestFile } from './checks/run-test-file.js'
import { runTestFiles } from './checks/run-test-files.js'

// Two at a time: more would only make them wait for each other on a small machine.
const jobs = 2
const timeoutMs = 360_000

const root = process.cwd()
const { values, positionals } = parseArgs({ allowPositionals: true, options: { types: { type: 'string' } } })
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    stop.abort()
    process.exit(130)
  })
}

const stages: StageResult[] = []
const finish = (stage: StageResult): void => {
  stages.push(stage)
  console.log(describeStage(stage))
}
const bin = (path: string): string => join(root, 'node_modules', path)

finish({ name: 'types', ok: values.types === 'passed', output: 'the compiler named the errors above' })
finish(
  await runStage('format', root, bin('prettier/bin/prettier.cjs'), ['--check', '--log-level=warn', '--cache', '.']),
)
finish(
  await runStage('lint', root, bin('eslint/bin/eslint.js'), [
    '--max-warnings=0',
    '--cache',
    '--cache-strategy=content',
    '--cache-location=node_modules/.cache/eslint/',
    '.',
  ]),
)

const waiting = readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.test.js'))
  .filter((path) => positionals.length === 0 || positionals.some((part) => path.includes(part)))
  .sort()
const { files, unsteady } = await runTestFiles(
  waiting,
  jobs,
  (path) => runTestFile(join('dist', path), { cwd: root, timeoutMs, signal: stop.signal }),
  (result, again) => console.log(`${again ? 'again   ' : ''}${describeFile(result)}`),
)

const skipped = describeSkipped(files)
if (skipped !== '') console.log(`\n${skipped}`)
if (unsteady.length > 0) console.log(`\nUNSTEADY, passed only when run again alone:\n  ${unsteady.join('\n  ')}`)
const failedStages = stages.filter((stage) => !stage.ok).map((stage) => stage.name)
if (failedStages.length > 0) console.log(`\nfailed stages: ${failedStages.join(', ')}`)
const failedFiles = files.filter((file) => file.failed > 0).map((file) => file.file)
if (failedFiles.length > 0) console.log(`\nfailed test files:\n  ${failedFiles.join('\n  ')}`)
const summary = summarize(stages, files)
console.log(`\n${summary.line}`)
process.exitCode = summary.failed === 0 ? 0 : 1
