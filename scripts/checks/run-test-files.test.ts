import t from 'tap'
import type { TestFileResult } from './run-test-file.js'
import { runTestFiles } from './run-test-files.js'

/** Runs files of which each fails as often as told. */
async function runFailing(failures: Record<string, number>) {
  const told: string[] = []
  const left = new Map(Object.entries(failures))
  const run = (path: string): Promise<TestFileResult> => {
    const failed = left.get(path)! > 0 ? 1 : 0
    left.set(path, left.get(path)! - 1)
    return Promise.resolve({
      file: path,
      passed: 1,
      failed,
      failures: [],
      skipped: [],
      durationMs: 1,
      errorOutput: '',
    })
  }
  const { files, unsteady } = await runTestFiles(Object.keys(failures), 2, run, ({ file, failed }, again) =>
    told.push(`${file} ${failed}${again ? ' again' : ''}`),
  )
  return {
    told,
    unsteady,
    failed: files.filter((file) => file.failed > 0).map(({ file }) => file),
    count: files.length,
  }
}

t.test('what runs real processes is run once more, and told as unsteady when that passes', async (t) => {
  const { told, unsteady, failed, count } = await runFailing({ 'scripts/system/x.test.js': 1, 'common/y.test.js': 0 })
  t.same(told, ['scripts/system/x.test.js 1', 'common/y.test.js 0', 'scripts/system/x.test.js 0 again'])
  t.same(unsteady, ['scripts/system/x.test.js'])
  t.same(failed, [])
  t.equal(count, 2, 'each file counts once')
})

t.test('what fails twice has failed', async (t) => {
  const { unsteady, failed } = await runFailing({ 'topology/log/kafka/x.test.js': 2 })
  t.same(failed, ['topology/log/kafka/x.test.js'])
  t.same(unsteady, [])
})

t.test('what is deterministic has to pass at once', async (t) => {
  const { told, failed } = await runFailing({ 'topology/task/x.test.js': 1 })
  t.same(told, ['topology/task/x.test.js 1'])
  t.same(failed, ['topology/task/x.test.js'])
})
