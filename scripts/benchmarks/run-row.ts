import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Figure } from './figure.js'
import type { RowName } from './row-names.js'

export interface RowResult {
  readonly row: RowName
  readonly figures: readonly Figure[]
  /** Why there are none; null: all is well. */
  readonly failure: string | null
}

/** Measures a row in a process of its own, run as this one is, with a directory that is removed afterwards; it is ended after `limitMinutes`. */
export async function runRow(row: RowName, limitMinutes: number, interrupted: AbortSignal): Promise<RowResult> {
  const directory = await mkdtemp(join(tmpdir(), `pulsefold-bench-${row}-`))
  const limit = AbortSignal.timeout(limitMinutes * 60_000)
  const child = fork(new URL('row-process.js', import.meta.url), [row, directory], {
    stdio: ['ignore', 2, 2, 'ipc'],
    // A group of its own, so that what it has started ends with it.
    detached: true,
  })
  let figures: readonly Figure[] = []
  child.on('message', (message) => (figures = message as Figure[]))
  const end = (): void => endGroup(child.pid)
  for (const signal of [interrupted, limit]) signal.addEventListener('abort', end)
  try {
    const [code] = (await once(child, 'close')) as [number | null]
    const failure = interrupted.aborted
      ? 'interrupted'
      : limit.aborted
        ? `not done within ${limitMinutes} minutes`
        : code === 0
          ? null
          : 'its process failed, see above'
    return { row, figures, failure }
  } finally {
    for (const signal of [interrupted, limit]) signal.removeEventListener('abort', end)
    end()
    await rm(directory, { recursive: true, force: true })
  }
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // Nothing of it is left.
  }
}
