import { inspect } from 'node:util'
import { runTestFile } from '../checks/run-test-file.js'

/** A case whose tests are shortened in the test command. */
export interface LongCase {
  readonly name: string
  readonly about: string
  readonly files: readonly string[]
}

export const longCases: readonly LongCase[] = [
  {
    name: 'HS-06',
    about: 'connections reset on a reused socket: 20 checks, 30 s apart (11 minutes)',
    files: ['plugins'],
  },
  {
    name: 'ME-04',
    about: 'health bodies that nobody reads: 50 plugins, every 100 ms (10 minutes)',
    files: ['plugins'],
  },
  { name: 'ME-06', about: 'ten rounds of 60,000 devices registered and removed', files: ['scale'] },
  { name: 'ME-08', about: 'an idle service, and one connected to Kafka (5 minutes each)', files: ['clients', 'kafka'] },
  { name: 'SE-06', about: '300 slow bodies and 300 slow headers', files: ['clients'] },
  { name: 'SH-01', about: 'SIGTERM in mid-batch, 20 times in a row', files: ['restart', 'two-instances'] },
]

const TIMEOUT_MS = 2 * 3_600_000

/** Runs a case in its full length; answers whether all held. What needs a broker is skipped without one, and said so. */
export async function runLongCase({ name, files }: LongCase, say: (line: string) => void): Promise<boolean> {
  process.env['PULSEFOLD_TEST_LENGTH'] = 'full'
  process.env['TAP_GREP'] = `/${name}/`
  let holds = true
  for (const file of files) {
    const result = await runTestFile(`dist/scripts/system/${file}.test.js`, {
      cwd: process.cwd(),
      timeoutMs: TIMEOUT_MS,
    })
    const { passed, failed, failures, durationMs, errorOutput } = result
    say(`${name} ${file}: ${passed} passed, ${failed} failed, ${Math.round(durationMs / 1000)} s`)
    for (const { name: what, diagnostics } of failures) say(`  ${what}\n${inspect(diagnostics)}`)
    if (failed > 0) say(errorOutput)
    holds &&= failed === 0
  }
  return holds
}
