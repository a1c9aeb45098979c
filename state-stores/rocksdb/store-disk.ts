import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** The directories of stores below `directory`: their names, and how one is deleted. */
export function rocksDbDisk(directory: string): {
  names(): Promise<readonly string[]>
  remove(name: string): Promise<void>
} {
  return {
    names: () => readdir(directory).catch(() => []),
    remove: (name) => rm(join(directory, name), { recursive: true, force: true }),
  }
}
