import t from 'tap'
import { describeFile, describeSkipped, summarize } from './report.js'
import type { TestFileResult } from './run-test-file.js'

const file = (result: Partial<TestFileResult>): TestFileResult => ({
  file: 'dist/x.test.js',
  passed: 1,
  failed: 0,
  failures: [],
  skipped: [],
  durationMs: 5,
  errorOutput: '',
  ...result,
})
const stage = (ok: boolean) => ({ name: 'lint', ok, output: '' })

const cases = [
  {
    name: 'adds stages and assertions',
    stages: [stage(true)],
    files: [file({ passed: 3 })],
    line: '4 passed, 0 failed',
  },
  { name: 'counts a failed stage', stages: [stage(false)], files: [file({})], line: '1 passed, 1 failed' },
  { name: 'counts failed assertions', stages: [], files: [file({ failed: 2 })], line: '1 passed, 2 failed' },
  { name: 'takes no test file at all for a failure', stages: [stage(true)], files: [], line: '1 passed, 1 failed' },
]
for (const { name, stages, files, line } of cases) {
  t.test(name, async (t) => {
    t.equal(summarize(stages, files).line, line)
  })
}

t.test('names what was left out and how to have it run', async (t) => {
  t.equal(describeSkipped([file({})]), '')
  const text = describeSkipped([file({ skipped: [{ name: 'reads a real broker', reason: 'set THE_SWITCH' }] })])
  t.match(text, /NOT RUN: 1 left out/)
  t.match(text, /reads a real broker\n {4}to run it: set THE_SWITCH/)
})

t.test('shows failures with their diagnostics and the end of standard error', async (t) => {
  const text = describeFile(
    file({
      failed: 1,
      failures: [{ name: 'a > b', diagnostics: { diff: 'x\ny', at: { line: 3 } } }],
      errorOutput: 'oh',
    }),
  )
  t.match(text, /^FAILED {2}dist\/x\.test\.js {2}1 passed, 1 failed/)
  t.match(text, /- a > b/)
  t.match(text, /diff:\n\s+x\n\s+y/)
  t.match(text, /at: \{ line: 3 \}/)
  t.match(text, /\n {4}oh$/)
})
