import { spawn } from 'node:child_process'
import { countTap } from './tap-tally.js'
import type { TapTally } from './tap-tally.js'

export interface TestFileOptions {
  readonly cwd: string
  /** A file that is not done by then is killed, with all it started. */
  readonly timeoutMs: number
  /** Ends the file early, and kills all it started. */
  readonly signal?: AbortSignal
}

export interface TestFileResult extends TapTally {
  readonly file: string
  readonly durationMs: number
  /** The end of what it wrote to standard error. */
  readonly errorOutput: string
}

const errorOutputLimit = 8192

/**
 * Runs one compiled test file in a process of its own and counts its TAP. A file that dies, hangs, or asserts nothing has
 * failed, whatever it printed; so the count can only be too low, never too kind. (tap's own runner leaves out the files
 * that wait behind one that cannot be killed softly.)
 */
export async function runTestFile(file: string, options: TestFileOptions): Promise<TestFileResult> {
  const startedAt = performance.now()
  const counter = countTap()
  let errorOutput = ''
  const child = spawn(process.execPath, ['--enable-source-maps', file], {
    cwd: options.cwd,
    // The test gives up by itself a little earlier and then names the subtest that hangs.
    env: { ...process.env, TAP: '1', TAP_TIMEOUT: String(Math.max(1, Math.floor(options.timeoutMs / 1000) - 5)) },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const killGroup = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // Nothing of the group is left.
    }
  }
  child.stdout.on('data', (chunk: Buffer) => counter.write(chunk))
  child.stderr.on('data', (chunk: Buffer) => (errorOutput = (errorOutput + chunk.toString()).slice(-errorOutputLimit)))
  options.signal?.addEventListener('abort', killGroup, { once: true })
  const end = await new Promise<string>((resolve) => {
    let how = ''
    const timer = setTimeout(() => {
      how = `killed, as it still ran after ${options.timeoutMs} ms`
      killGroup()
    }, options.timeoutMs)
    // What the file left running would hold its output open.
    child.on('exit', (code, signal) => {
      clearTimeout(timer)
      how ||= signal === null ? `exit code ${code ?? 0}` : `signal ${signal}`
      killGroup()
    })
    child.on('error', (error) => resolve(error.message))
    child.on('close', () => resolve(how))
  })
  options.signal?.removeEventListener('abort', killGroup)
  const tally = counter.end()
  const result = { ...tally, file, durationMs: Math.round(performance.now() - startedAt), errorOutput }
  const fault = faultOf(end, tally)
  if (fault === undefined) return result
  const failures = [...tally.failures, { name: fault, diagnostics: undefined }]
  return { ...result, failed: failures.length, failures }
}

/** What is wrong with the file as a whole, where its assertions do not tell. */
function faultOf(end: string, tally: TapTally): string | undefined {
  if (end.startsWith('killed')) return end
  if (end !== 'exit code 0' && tally.failed === 0) return `ended with ${end}`
  if (tally.passed + tally.failed + tally.skipped.length === 0) return 'contains no assertion'
  return undefined
}
