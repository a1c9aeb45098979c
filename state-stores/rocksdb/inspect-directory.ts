import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readManifest } from './manifest.js'
import type { Manifest } from './manifest.js'
import type { LiveTable } from './verify-tables.js'

export interface Directory {
  /** `empty`: no store. `damaged`: a write-ahead log is gone that the MANIFEST asks for. */
  readonly state: 'empty' | 'data' | 'damaged'
  /** Those that the MANIFEST names, as far as it can be read. */
  readonly tables: readonly LiveTable[]
  /** Names of write-ahead logs that are read when it is opened. */
  readonly logs: readonly string[]
}

/**
 * Makes the directory when absent, and says what is in it. The files may be another process's and change meanwhile.
 *
 * RocksDB opens with a MANIFEST that was cut: it reads up to there and deletes the tables named behind, whose logs are
 * gone since long. Rows are then missing from the middle, and nothing is said. But the log that was written to at that
 * point is missing too, and that shows.
 */
export async function inspectDirectory(location: string): Promise<Directory> {
  await mkdir(location, { recursive: true })
  const names = await readdir(location)
  const numbers = names.map((name) => /^(\d+)\.(sst|log)$/.exec(name)?.[1]).filter((digits) => digits !== undefined)
  if (numbers.length === 0 && !names.includes('CURRENT')) return { state: 'empty', tables: [], logs: [] }

  const manifest = await currentManifest(location)
  const tables = manifest?.tables ?? []
  const isRead = (name: string): boolean => name.endsWith('.log') && parseInt(name) >= (manifest?.logNumber ?? 0)
  const logs = names.filter(isRead).sort()
  if (manifest?.logNumber === undefined) return { state: 'data', tables, logs }
  const { number, logNumber } = manifest
  const hasLog = (wanted: number): boolean => names.includes(`${String(wanted).padStart(6, '0')}.log`)
  if (hasLog(logNumber)) return { state: 'data', tables, logs }
  // Until its first flush a process's log is numbered next to its MANIFEST, which keeps the number from before.
  if (logNumber > number) return { state: 'damaged', tables, logs }
  const hasNewer = numbers.some((digits) => Number(digits) > number)
  return { state: hasNewer && !hasLog(number + 1) ? 'damaged' : 'data', tables, logs }
}

/** Undefined when it cannot be found; opening the store then fails, and says so better. */
async function currentManifest(location: string): Promise<(Manifest & { readonly number: number }) | undefined> {
  try {
    const name = (await readFile(join(location, 'CURRENT'), 'utf8')).trim()
    const number = Number(/^MANIFEST-(\d+)$/.exec(name)?.[1])
    return { number, ...readManifest(await readFile(join(location, name))) }
  } catch {
    return undefined
  }
}
