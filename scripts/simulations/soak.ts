import { execFile } from 'node:child_process'

export interface Soaked {
  readonly code: number
  readonly lines: readonly string[]
}

/** What `./scripts/soak` says. In a process of its own: under tap's hooks each promise costs three times as much. */
export function soak(...args: readonly string[]): Promise<Soaked> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, ['--enable-source-maps', 'dist/scripts/soak.js', ...args], (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code
      if (typeof code === 'number') resolve({ code, lines: `${stdout}${stderr}`.trimEnd().split('\n') })
      else reject(error ?? new Error('no exit code'))
    })
  })
}
