import { Parser } from 'tap-parser'
import type { Result } from 'tap-parser'

/** What a test file said in TAP. Counts are of assertions, the innermost test points. */
export interface TapTally {
  readonly passed: number
  readonly failed: number
  readonly failures: readonly TapFailure[]
  /** Left out by `skip` or `todo`, with the reason given there. */
  readonly skipped: readonly { readonly name: string; readonly reason: string }[]
}

export interface TapFailure {
  readonly name: string
  /** As tap gives it: `diff`, `stack`, `at` and the like. */
  readonly diagnostics: unknown
}

export interface TapCounter {
  write(chunk: string | Buffer): void
  /** To be called once, at the end of the output. */
  end(): TapTally
}

/** Counts TAP as it comes. A broken plan (missing, or not met) is one failure more. */
export function countTap(): TapCounter {
  const parser = new Parser()
  const failures: TapFailure[] = []
  const skipped: { name: string; reason: string }[] = []
  let passed = 0
  const leftOut = (reason: (result: Result) => boolean | string) => (result: Result) => {
    const text = reason(result)
    skipped.push({ name: result.fullname, reason: typeof text === 'string' ? text : 'no reason given' })
  }
  parser.on('pass', () => (passed += 1))
  parser.on('fail', (result: Result) => {
    failures.push({ name: result.fullname, diagnostics: result.diag as unknown })
  })
  parser.on(
    'skip',
    leftOut((result) => result.skip),
  )
  parser.on(
    'todo',
    leftOut((result) => result.todo),
  )
  return {
    write: (chunk) => {
      parser.write(chunk)
    },
    end: () => {
      parser.end()
      const results = parser.results
      if (failures.length === 0 && results?.ok !== true) {
        failures.push({ name: 'the TAP output is whole', diagnostics: results?.failures ?? [] })
      }
      return { passed, failed: failures.length, failures, skipped }
    },
  }
}
