import { open, readFile, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { ArchiveError } from './errors.js'

/** What this process writes: the number of another process tells nothing of it. */
const own = new Set<string>()

/**
 * Keeps other runs from writing an archive until what this answers is called: a file beside it names this process. That of a process
 * which is no more is taken over. Errors: ARCHIVE_IN_USE.
 */
export async function lockArchive(directory: string): Promise<() => Promise<void>> {
  const path = `${resolve(directory)}.lock`
  if (own.has(path)) throw inUse(path, process.pid)
  own.add(path)
  try {
    await takeFile(path)
  } catch (thrown) {
    own.delete(path)
    throw thrown
  }
  return async () => {
    await rm(path, { force: true })
    own.delete(path)
  }
}

async function takeFile(path: string): Promise<void> {
  for (;;) {
    const file = await open(path, 'wx').catch((thrown: unknown) => {
      if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') return undefined
      throw thrown
    })
    if (file !== undefined) {
      await file.writeFile(String(process.pid))
      await file.close()
      return
    }
    const holder = Number(await readFile(path, 'utf8').catch(() => ''))
    if (holder !== process.pid && isAlive(holder)) throw inUse(path, holder)
    await rm(path, { force: true })
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function inUse(path: string, pid: number): ArchiveError {
  return new ArchiveError('ARCHIVE_IN_USE', `process ${pid} writes the archive; ${path} names it`)
}
