import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const cli = fileURLToPath(new URL('../cli.js', import.meta.url))

/** Runs `pulsefold`; answers its exit code, a blank, and all that it printed. */
export async function commandLine(...args: readonly string[]): Promise<string> {
  const { code, out, err } = await run(args)
  return `${code} ${out}${err}`
}

/** Runs `pulsefold` with `--json`; answers its exit code, what it found, and what it said besides. */
export async function commandJson(
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly found: unknown; readonly err: string }> {
  const { code, out, err } = await run([...args, '--json'])
  if (out === '') throw new Error(`${args.join(' ')} ended with ${code}: ${err}`)
  return { code, found: JSON.parse(out) as unknown, err }
}

async function run(
  args: readonly string[],
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const child = spawn(process.execPath, [cli, ...args], { env: { PATH: process.env['PATH'] }, stdio: 'pipe' })
  let out = ''
  let err = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number]
  return { code, out, err }
}
