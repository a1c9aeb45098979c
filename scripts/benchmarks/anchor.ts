import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'

/** What another implementation of the same work needed on the same brokers. */
export interface AnchorRun {
  readonly recordsPerSecond: number
  readonly cpuSeconds: number
  readonly records: number
  readonly peakRssMb: number
}

/**
 * Runs the fold written with Kafka Streams, of the directory that BENCH_ANCHOR names: its `kstreams/run.sh throughput` prints a
 * line of JSON. It writes beside itself, so a copy of it is run. Undefined without a directory.
 */
export async function runAnchor(directory: string, brokers: string): Promise<AnchorRun | undefined> {
  const source = process.env['BENCH_ANCHOR'] ?? ''
  if (source === '') return undefined
  const copy = join(directory, 'anchor')
  await cp(source, copy, { recursive: true })
  const environment = { KAFKA_BOOTSTRAP: brokers, GUARANTEE: 'exactly_once_v2', COMMIT_MS: 'default', REPS: '1' }
  const child = spawn('bash', [join(copy, 'kstreams', 'run.sh'), 'throughput'], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 2],
  })
  let output = ''
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  const line = output.split('\n').findLast((text) => text.startsWith('{'))
  if (code !== 0 || line === undefined) throw new Error(`the anchor failed: ${output.slice(-500)}`)
  return JSON.parse(line) as AnchorRun
}
