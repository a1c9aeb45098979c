import { spawn } from 'node:child_process'

/** A check that either passes or fails as a whole. */
export interface StageResult {
  readonly name: string
  readonly ok: boolean
  readonly output: string
}

/** Runs a tool of node_modules by Node and keeps what it printed. */
export function runStage(name: string, cwd: string, script: string, args: readonly string[]): Promise<StageResult> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [script, ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.on('error', (error) => resolve({ name, ok: false, output: error.message }))
    child.on('close', (code) => resolve({ name, ok: code === 0, output }))
  })
}
