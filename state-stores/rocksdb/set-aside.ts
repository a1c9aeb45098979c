import { readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** Set-aside directories kept of one store: a crash loop must not fill the disk. */
const kept = 3

/**
 * Renames a directory to `NAME.set-aside-NUMBER-REASON` beside it and deletes the oldest of more than three such.
 * Answers the new path.
 */
export async function setAsideDirectory(location: string, reason: string): Promise<string> {
  const parent = dirname(location)
  const prefix = `${basename(location)}.set-aside-`
  const former = (await readdir(parent))
    .filter((name) => name.startsWith(prefix))
    .map((name) => ({ name, number: Number.parseInt(name.slice(prefix.length), 10) }))
    .filter(({ number }) => Number.isSafeInteger(number))
    .sort((a, b) => b.number - a.number)
  const number = (former[0]?.number ?? 0) + 1
  const target = join(parent, `${prefix}${number}-${asFileName(reason)}`)
  await rename(location, target)
  await Promise.all(former.slice(kept - 1).map(({ name }) => rm(join(parent, name), { recursive: true, force: true })))
  return target
}

function asFileName(reason: string): string {
  const words = reason.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  return words.slice(0, 40).replace(/^-|-$/g, '') || 'unknown'
}
