import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const cli = fileURLToPath(new URL('../cli.js', import.meta.url))

/** Runs `pulsefold`; answers its exit code, a blank, and all that it printed. */
export async function commandLine(...args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [cli, ...args], { env: { PATH: process.env['PATH'] }, stdio: 'pipe' })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number]
  return `${code} ${output}`
}
