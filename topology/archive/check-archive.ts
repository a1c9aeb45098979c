import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ensureError } from '../../common/errors.js'
import type { OnProgress } from '../audit/replay-journals.js'
import { CHAIN_FILE, readChain } from './chain.js'
import { Contents } from './contents.js'
import { readSealed } from './files.js'
import type { SegmentLine } from './lines.js'

/** What a check of an archive found. JSON. */
export interface ArchiveCheck {
  readonly isSound: boolean
  /** What is wrong, in words; empty when it is sound. */
  readonly faults: readonly string[]
  readonly segments: number
  readonly bytes: number
  /** Hash of the last line; lines cut off show only by comparing it with what was noted elsewhere. */
  readonly head: string
  readonly masked: readonly string[]
}

/** Finds any byte of an archive that is changed, missing, added or elsewhere. `head`: as it was noted when written. */
export async function checkArchive(
  directory: string,
  { head, onProgress }: { readonly head?: string | undefined; readonly onProgress?: OnProgress } = {},
): Promise<ArchiveCheck> {
  const faults: string[] = []
  let chain
  try {
    chain = await readChain(directory)
  } catch (thrown) {
    const broken = { segments: 0, bytes: 0, head: '', masked: [] }
    return { isSound: false, faults: [ensureError(thrown).message], ...broken }
  }
  const contents = new Contents(chain.lines)
  if (contents.head === undefined) faults.push('there is no archive')
  if (head !== undefined && head !== chain.head) faults.push(`the last line is ${chain.head}, not ${head}`)
  let bytes = 0
  for (const [i, line] of contents.segments.entries()) {
    for (const file of filesOf(line)) {
      bytes += file.bytes
      await readSealed(directory, file).catch((thrown: unknown) => faults.push(ensureError(thrown).message))
    }
    onProgress?.(i + 1, contents.segments.length)
  }
  faults.push(...orderFaults(contents.segments), ...(await strangers(directory, contents.segments)))
  const { segments } = contents
  const masked = contents.head?.masked ?? []
  return { isSound: faults.length === 0, faults, segments: segments.length, bytes, head: chain.head, masked }
}

function filesOf({ records, fold }: SegmentLine): readonly SegmentLine['records'][] {
  return [records, ...(fold?.snapshot === undefined ? [] : [fold.snapshot]), ...(fold === undefined ? [] : [fold.keys])]
}

/** Segments of a partition that do not follow one another. */
function orderFaults(segments: readonly SegmentLine[]): readonly string[] {
  const ends = new Map<string, number>()
  return segments.flatMap(({ topic, partition, from, to, fold }) => {
    const name = `${topic}/${partition}`
    const end = ends.get(name)
    ends.set(name, to)
    // Compaction leaves holes between seals; a journal's are noted as gaps.
    const isNext = end === undefined || from === end || (fold === undefined && from > end)
    return isNext ? [] : [`${name}: a segment from ${from} follows one to ${end}`]
  })
}

/** Files that no line names. */
async function strangers(directory: string, segments: readonly SegmentLine[]): Promise<readonly string[]> {
  const known = new Set([CHAIN_FILE, ...segments.flatMap(filesOf).map(({ name }) => name)])
  const found = await readdir(directory, { recursive: true, withFileTypes: true })
  return found
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(directory.length)
        .replace(/^[/\\]+/, '')
        .replaceAll('\\', '/'),
    )
    .filter((name) => !known.has(name))
    .map((name) => `${name} is no part of the archive`)
}
