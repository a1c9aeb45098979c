import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../free-port.js'

/** What another implementation of the same work needed on the same brokers. */
export interface AnchorRun {
  readonly recordsPerSecond: number
  readonly cpuSeconds: number
  readonly records: number
  readonly peakRssMb: number
}

/** The same fold written with Kafka Streams; each of these runs alone. */
export interface Anchor {
  throughput(): Promise<AnchorRun>
  /** The changelog of the same 1.2 million records read into empty stores. */
  restore(): Promise<{ readonly seconds: number; readonly cpuSeconds: number }>
  /** Its small HTTP server, all folded. */
  serve(): Promise<AnchorServer>
}

export interface AnchorServer {
  readonly url: string
  /** Of so many keys. */
  paths(count: number): readonly string[]
  stop(): void
}

const DEVICES = 60_000
const ROUNDS = 20
/** Prime to the number of devices: reads jump over all of them. */
const STEP = 7919
const LOOK_MS = 200

/**
 * The anchor of the directory that BENCH_ANCHOR names: its `kstreams/run.sh` prints a line of JSON for each measurement. It writes
 * beside itself, so a copy of it is run. Undefined without a directory.
 */
export async function openAnchor(directory: string, brokers: string): Promise<Anchor | undefined> {
  const source = process.env['BENCH_ANCHOR'] ?? ''
  if (source === '') return undefined
  const copy = join(directory, 'anchor')
  await cp(source, copy, { recursive: true })
  const kstreams = join(copy, 'kstreams')
  const environment = {
    ...process.env,
    ...{ KAFKA_BOOTSTRAP: brokers, GUARANTEE: 'exactly_once_v2', COMMIT_MS: 'default', REPS: '1' },
  }
  async function run(what: string): Promise<string> {
    const child = spawn('bash', [join(kstreams, 'run.sh'), what], { env: environment, stdio: ['ignore', 'pipe', 2] })
    const output = textOf(child)
    const [code] = (await once(child, 'close')) as [number | null]
    if (code !== 0) throw new Error(`the anchor failed: ${output().slice(-500)}`)
    return output()
  }
  const measured = async <Result>(what: string): Promise<Result> => {
    const output = await run(what)
    const line = output.split('\n').findLast((text) => text.startsWith('{'))
    if (line === undefined) throw new Error(`the anchor told nothing: ${output.slice(-500)}`)
    return JSON.parse(line) as Result
  }
  return {
    throughput: () => measured('throughput'),
    restore: () => measured('restore'),
    async serve() {
      await run('preload')
      const [port, appId] = [await freePort(), `bench-serve-${process.pid}-${Date.now()}`]
      const options = ['-Xmx1g', '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn', '-Dsun.net.httpserver.nodelay=true']
      const classes = join(kstreams, 'target', 'kstreams-1.jar') + ':' + join(kstreams, 'target', 'libs', '*')
      const child = spawn('java', [...options, '-cp', classes, 'bench.App', 'serve'], {
        env: { ...environment, APP_ID: appId, STATE_DIR: join(copy, 'state'), HTTP_PORT: String(port) },
        stdio: ['ignore', 'pipe', 2],
      })
      const url = `http://127.0.0.1:${port}`
      await untilFolded(child, url)
      return {
        url,
        paths: (count) => Array.from({ length: count }, (_, at) => pathOf((at * STEP) % DEVICES)),
        stop: () => void child.kill('SIGKILL'),
      }
    },
  }
}

const pathOf = (device: number): string => `/state/device-${String(device).padStart(6, '0')}`

/** Its last devices stand last in each partition: all of them are in all rounds when all is folded. */
async function untilFolded(child: ChildProcess, url: string): Promise<void> {
  const output = textOf(child)
  let device = DEVICES - 200
  while (device < DEVICES) {
    if (child.exitCode !== null) throw new Error(`the anchor does not serve: ${output().slice(-500)}`)
    if (output().includes('READY') && (await countOf(url + pathOf(device))) === ROUNDS) device++
    else await pause(LOOK_MS)
  }
}

async function countOf(url: string): Promise<number | undefined> {
  return ((await (await fetch(url)).json()) as { readonly count?: number }).count
}

function textOf(child: ChildProcess): () => string {
  let text = ''
  child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()))
  return () => text
}
