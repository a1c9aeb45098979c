import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { ProcessUsage } from './measured-process.js'

export interface Measured extends ProcessUsage {
  /** What it printed. */
  readonly out: string
  readonly ms: number
}

const main = fileURLToPath(new URL('measured-process.js', import.meta.url))

/** Runs `pulsefold` as a process of its own. Rejects where it does not end with 0. */
export async function measureCommand(...args: readonly string[]): Promise<Measured> {
  const started = performance.now()
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'ignore', 'pipe'] })
  const [out, usage, [code]] = await Promise.all([
    text(child.stdout as Readable),
    text(child.stdio[3] as Readable),
    once(child, 'close') as Promise<[number]>,
  ])
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`)
  return { out, ms: performance.now() - started, ...(JSON.parse(usage) as ProcessUsage) }
}
