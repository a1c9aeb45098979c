import { readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setAsideName, setAsidePrefix } from '../set-aside-name.js'

/** Set-aside directories kept of one store: a crash loop must not fill the disk. */
const kept = 3

/** Renames a directory beside and deletes the oldest of more than three such. Answers the new path. */
export async function setAsideDirectory(location: string, reason: string): Promise<string> {
  const parent = dirname(location)
  const prefix = setAsidePrefix(basename(location))
  const former = (await readdir(parent))
    .filter((name) => name.startsWith(prefix))
    .map((name) => ({ name, number: Number.parseInt(name.slice(prefix.length), 10) }))
    .filter(({ number }) => Number.isSafeInteger(number))
    .sort((a, b) => b.number - a.number)
  const target = join(parent, setAsideName(basename(location), (former[0]?.number ?? 0) + 1, reason))
  await rename(location, target)
  await Promise.all(former.slice(kept - 1).map(({ name }) => rm(join(parent, name), { recursive: true, force: true })))
  return target
}
