import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import type { Settings } from '../../common/settings.js'
import { flagOf } from '../../common/settings-names.js'
import type { SettingName } from '../../common/settings-schema.js'
import { clientOf } from './http-client.js'
import type { Client } from './http-client.js'
import { until } from './until.js'

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** Standard output. */
  readonly out: string
  /** Standard error, line by line. */
  readonly log: readonly string[]
  /** The last line of the log. */
  readonly last: Readonly<Record<string, unknown>>
}

export interface RealProcess extends Client {
  readonly pid: number
  kill(signal: NodeJS.Signals): void
  readonly ended: Promise<Ended>
  /** Resolves when it says that it is ready; rejects when it ends before. */
  readonly ready: Promise<string>
  /** Resolves with the address when it answers, ready or not; for a log on a file. */
  readonly listening: () => Promise<string>
}

const main = fileURLToPath(new URL('../start.js', import.meta.url))
let processes = 0

export interface SpawnOptions {
  readonly values?: Partial<Settings>
  readonly flags?: readonly string[]
  readonly log?: 'file' | 'pipe'
  /** Of Node itself. */
  readonly nodeFlags?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
}

/** The main program as a process of its own: its data in `folder`/data, its log beside that. Killed with the test. */
export function spawnPulsefold(t: Test, folder: string, options: SpawnOptions = {}): RealProcess {
  const values: Partial<Settings> = { httpPort: 0, partitions: 3, dmiHealthIntervalMs: 3_600_000, ...options.values }
  const given = { dataDir: join(folder, 'data'), ...values }
  const flags = Object.entries(given).map(([name, value]) => `${flagOf(name as SettingName)}=${String(value)}`)
  const path = join(folder, `log-${++processes}`)
  const fd = openSync(path, 'w+')
  const nodeFlags = ['--enable-source-maps', ...(options.nodeFlags ?? [])]
  const child = spawn(process.execPath, [...nodeFlags, main, ...flags, ...(options.flags ?? [])], {
    env: { PATH: process.env['PATH'], ...options.environment },
    stdio: ['ignore', 'pipe', options.log === 'pipe' ? 'pipe' : fd],
  })
  let out = ''
  let piped = ''
  child.stderr?.on('data', (chunk: Buffer) => (piped += chunk.toString()))
  const ended = once(child, 'close').then(([code, signal]: unknown[]): Ended => {
    const text = options.log === 'pipe' ? piped : textOf(fd)
    closeSync(fd)
    const log = text.split('\n').filter((line) => line !== '')
    return {
      code: code as number | null,
      signal: signal as NodeJS.Signals | null,
      out,
      log,
      last: JSON.parse(log.at(-1) ?? '{}') as Record<string, unknown>,
    }
  })
  const ready = new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      out += chunk.toString()
      const url = /^Pulsefold is ready at (\S+)$/m.exec(out)?.[1]
      if (url === undefined) return
      address = url
      resolve(url)
    })
    void ended.then(({ out }) => reject(new Error(`ended before it was ready: ${out}`)))
  })
  ready.catch(() => undefined)
  let address = ''
  const client = clientOf(() => address)
  t.teardown(async () => {
    client.close()
    child.kill('SIGKILL')
    await ended
  })
  const listening = (): Promise<string> =>
    until('it listens', () => /"url":"([^"]+)","msg":"listening"/.exec(readFileSync(path, 'utf8'))?.[1] ?? false)
  return { ...client, pid: child.pid ?? 0, kill: (signal) => void child.kill(signal), ended, ready, listening }
}

/** From the descriptor, which outlives its folder. */
function textOf(fd: number): string {
  const bytes = Buffer.alloc(fstatSync(fd).size)
  readSync(fd, bytes, 0, bytes.length, 0)
  return bytes.toString()
}
