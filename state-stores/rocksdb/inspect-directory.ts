import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { lastLogNumber } from './manifest.js'

/** `empty`: no store. `damaged`: a write-ahead log is gone that the MANIFEST asks for. */
export type DirectoryState = 'empty' | 'data' | 'damaged'

/**
 * Makes the directory when absent, and says what is in it. The files may be another process's and change meanwhile.
 *
 * RocksDB opens with a MANIFEST that was cut: it reads up to there and deletes the tables named behind, whose logs are
 * gone since long. Rows are then missing from the middle, and nothing is said. But the log that was written to at that
 * point is missing too, and that shows.
 */
export async function inspectDirectory(location: string): Promise<DirectoryState> {
  await mkdir(location, { recursive: true })
  const names = await readdir(location)
  const numbers = names.map((name) => /^(\d+)\.(sst|log)$/.exec(name)?.[1]).filter((digits) => digits !== undefined)
  if (numbers.length === 0 && !names.includes('CURRENT')) return 'empty'

  const manifest = await readManifest(location)
  if (manifest?.logNumber === undefined) return 'data'
  const { number, logNumber } = manifest
  const hasLog = (wanted: number): boolean => names.includes(`${String(wanted).padStart(6, '0')}.log`)
  if (hasLog(logNumber)) return 'data'
  // Until its first flush a process's log is numbered next to its MANIFEST, which keeps the number from before.
  if (logNumber > number) return 'damaged'
  const hasNewer = numbers.some((digits) => Number(digits) > number)
  return hasNewer && !hasLog(number + 1) ? 'damaged' : 'data'
}

interface Manifest {
  readonly number: number
  readonly logNumber: number | undefined
}

/** Undefined when it cannot be found; opening the store then fails, and says so better. */
async function readManifest(location: string): Promise<Manifest | undefined> {
  try {
    const name = (await readFile(join(location, 'CURRENT'), 'utf8')).trim()
    const number = Number(/^MANIFEST-(\d+)$/.exec(name)?.[1])
    return { number, logNumber: lastLogNumber(await readFile(join(location, name))) }
  } catch {
    return undefined
  }
}
