import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'

/** Resident memory of a process, MB of 10^6 bytes: now, and at most so far. */
export interface Memory {
  readonly now: number
  readonly peak: number
}

export interface ServerProcess {
  /** Its address, when it is ready. */
  readonly ready: Promise<string>
  memory(): Promise<Memory>
  stop(): Promise<void>
}

/** Pulsefold in a process of its own, as `./scripts/start` runs it, on any free port; a later flag wins. */
export function spawnServer(dataDir: string, flags: readonly string[] = []): ServerProcess {
  const child = fork(
    new URL('../start.js', import.meta.url),
    [`--data-dir=${dataDir}`, '--http-port=0', '--log-level=warn', ...flags],
    { stdio: ['ignore', 'pipe', 2, 'ipc'] },
  )
  const ready = readyAt(child.stdout ?? [])
  ready.catch(() => undefined)
  return {
    ready,
    memory: () => memoryOf(child.pid ?? 0),
    async stop() {
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

/** The same, ready. */
export async function startServerProcess(
  dataDir: string,
  flags: readonly string[] = [],
): Promise<ServerProcess & { readonly url: string }> {
  const server = spawnServer(dataDir, flags)
  return { ...server, url: await server.ready }
}

async function readyAt(output: AsyncIterable<unknown> | Iterable<unknown>): Promise<string> {
  let text = ''
  for await (const chunk of output) {
    text += String(chunk)
    const url = /ready at (\S+)\n/.exec(text)?.[1]
    if (url !== undefined) return url
  }
  throw new Error(`the server did not start: ${text}`)
}

async function memoryOf(pid: number): Promise<Memory> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const megabytes = (name: string): number =>
    (Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024) / 1e6
  return { now: megabytes('VmRSS'), peak: megabytes('VmHWM') }
}
