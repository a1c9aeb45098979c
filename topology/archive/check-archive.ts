import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ensureError } from '../../common/errors.js'
import type { OnProgress } from '../audit/replay-journals.js'
import { CHAIN_FILE, readChain } from './chain.js'
import { Contents } from './contents.js'
import { ArchiveError } from './errors.js'
import { readSealed } from './files.js'
import type { FileSeal, MergedKeysLine, SegmentLine } from './lines.js'

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

const NO_PART =
  'is no part of the archive; a run of `archive` that was ended leaves such, and the next one makes it anew'

/**
 * Finds any byte of an archive that is changed, missing, added or elsewhere. `head`: as it was noted when written.
 * Errors: ARCHIVE_UNREADABLE.
 */
export async function checkArchive(
  directory: string,
  { head, onProgress }: { readonly head?: string | undefined; readonly onProgress?: OnProgress } = {},
): Promise<ArchiveCheck> {
  const faults: string[] = []
  let chain
  try {
    chain = await readChain(directory)
  } catch (thrown) {
    if (thrown instanceof ArchiveError && thrown.code === 'ARCHIVE_UNREADABLE') throw thrown
    const broken = { segments: 0, bytes: 0, head: '', masked: [] }
    return { isSound: false, faults: [ensureError(thrown).message], ...broken }
  }
  const contents = new Contents(chain.lines)
  if (contents.head === undefined) faults.push('there is no archive')
  const { unfinishedBytes } = chain
  if (unfinishedBytes > 0) faults.push(`${unfinishedBytes} bytes behind the last line of ${CHAIN_FILE} ${NO_PART}`)
  if (head !== undefined && head !== chain.head) faults.push(`the last line is ${chain.head}, not ${head}`)
  let bytes = 0
  const lines = [...contents.segments, ...contents.mergedKeys]
  for (const [i, line] of lines.entries()) {
    for (const file of filesOf(line)) {
      bytes += file.bytes
      await readSealed(directory, file).catch((thrown: unknown) => faults.push(ensureError(thrown).message))
    }
    onProgress?.(i + 1, lines.length)
  }
  faults.push(...orderFaults(contents.segments), ...mergedFaults(contents), ...(await strangers(directory, lines)))
  const { segments } = contents
  const masked = contents.head?.masked ?? []
  return { isSound: faults.length === 0, faults, segments: segments.length, bytes, head: chain.head, masked }
}

function filesOf(line: SegmentLine | MergedKeysLine): readonly FileSeal[] {
  if (line.kind === 'mergedKeys') return [line.keys]
  const { records, fold } = line
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

/** Merged keys that do not follow one another, or are not of whole segments. */
function mergedFaults(contents: Contents): readonly string[] {
  return contents.mergedKeys.flatMap((line) => {
    const { topic, partition, from, to } = line
    const before = contents.mergedKeysOf(line).findLast((one) => one.from < from)
    const segments = contents.segmentsOf(line)
    const begin = before?.to ?? segments[0]?.from
    const isWhole = from === begin && segments.some((segment) => segment.to === to)
    return isWhole ? [] : [`${topic}/${partition}: merged keys from ${from} to ${to} are not of segments`]
  })
}

/** Files that no line names. */
async function strangers(
  directory: string,
  lines: readonly (SegmentLine | MergedKeysLine)[],
): Promise<readonly string[]> {
  const known = new Set([CHAIN_FILE, ...lines.flatMap(filesOf).map(({ name }) => name)])
  const found = await readdir(directory, { recursive: true, withFileTypes: true }).catch((thrown: unknown) => {
    throw new ArchiveError('ARCHIVE_UNREADABLE', ensureError(thrown).message, { cause: thrown })
  })
  return found
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(directory.length)
        .replace(/^[/\\]+/, '')
        .replaceAll('\\', '/'),
    )
    .filter((name) => !known.has(name))
    .map((name) => `${name} ${NO_PART}`)
}
