import type { TestFileResult } from './run-test-file.js'

export interface TestRun {
  /** One of each file: of its second run where it had one. */
  readonly files: readonly TestFileResult[]
  /** Those that failed at first and passed when run again alone. */
  readonly unsteady: readonly string[]
}

/**
 * Whole commands, real processes and brokers: a machine that was busy elsewhere is no fault of theirs, so they get a second
 * run, alone. Everything else is deterministic and has to pass at once.
 */
const onRealProcesses = /^scripts\/|kafka|real-/

/** Runs `paths`, `jobs` at a time, and tells of every run; the second run of a file is the one that counts. */
export async function runTestFiles(
  paths: readonly string[],
  jobs: number,
  run: (path: string) => Promise<TestFileResult>,
  tell: (result: TestFileResult, again: boolean) => void,
): Promise<TestRun> {
  const waiting = [...paths]
  const files: TestFileResult[] = []
  const failedAtFirst: string[] = []
  const work = async (): Promise<void> => {
    for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
      const result = await run(path)
      tell(result, false)
      if (result.failed > 0 && onRealProcesses.test(path)) failedAtFirst.push(path)
      else files.push(result)
    }
  }
  await Promise.all(Array.from({ length: jobs }, work))

  const unsteady: string[] = []
  for (const path of failedAtFirst) {
    const result = await run(path)
    tell(result, true)
    files.push(result)
    if (result.failed === 0) unsteady.push(result.file)
  }
  return { files, unsteady }
}
