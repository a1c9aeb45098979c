import { createHash } from 'node:crypto'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ensureError } from '../../common/errors.js'
import { ArchiveError } from './errors.js'
import type { ArchiveLine } from './lines.js'

/** What a line seals: the hash of the one before as well, so none can be left out or moved. Its own hash stands behind it. */
interface ChainedLine {
  readonly previous: string
  readonly line: ArchiveLine
}

/** Where a chain ends. */
export interface ChainEnd {
  /** Hash of the last line: who keeps it will notice if lines are cut off. */
  readonly head: string
  /** Bytes of whole lines; what follows was being written when the writer ended. */
  readonly bytes: number
}

export interface Chain extends ChainEnd {
  readonly lines: readonly ArchiveLine[]
  /** Bytes behind the last whole line. */
  readonly unfinishedBytes: number
}

export const CHAIN_FILE = 'archive.jsonl'
const START = 'pulsefold-archive'

/** The chain of an archive; empty where there is none yet. Errors: ARCHIVE_DAMAGED. */
export async function readChain(directory: string): Promise<Chain> {
  const bytes = await readFile(join(directory, CHAIN_FILE)).catch((thrown: unknown) => {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0)
    throw new ArchiveError('ARCHIVE_UNREADABLE', ensureError(thrown).message, { cause: thrown })
  })
  return parseChain(bytes)
}

/** The chain that a file holds. Errors: ARCHIVE_DAMAGED. */
export function parseChain(bytes: Buffer): Chain {
  const whole = bytes.subarray(0, bytes.lastIndexOf('\n') + 1)
  const lines: ArchiveLine[] = []
  let head = hashOf(START)
  for (const [i, text] of whole.toString().split('\n').slice(0, -1).entries()) {
    const sealed = sealOf(text)
    if (sealed === undefined) throw damaged(i + 1, 'is not as it was written')
    const { previous, line } = JSON.parse(sealed.text) as ChainedLine
    if (previous !== head) throw damaged(i + 1, 'does not follow the line before it')
    lines.push(line)
    head = sealed.hash
  }
  return { lines, head, bytes: whole.length, unfinishedBytes: bytes.length - whole.length }
}

/** Appends a line, on disk when this resolves; answers the chain's new end. */
export async function appendLine(directory: string, end: ChainEnd, line: ArchiveLine): Promise<ChainEnd> {
  const text = JSON.stringify({ previous: end.head, line } satisfies ChainedLine)
  const hash = hashOf(text)
  const bytes = Buffer.from(withSeal(text, hash) + '\n')
  const file = await open(join(directory, CHAIN_FILE), 'a+')
  try {
    // What a writer that was killed has begun is not part of the chain.
    await file.truncate(end.bytes)
    await file.appendFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
  return { head: hash, bytes: end.bytes + bytes.length }
}

export function hashOf(bytes: string | Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** A line's text with the hash of it as another member. */
function withSeal(text: string, hash: string): string {
  return `${text.slice(0, -1)},"hash":"${hash}"}`
}

/** What a line seals and the hash that it names; undefined where they do not fit. */
function sealOf(line: string): { readonly text: string; readonly hash: string } | undefined {
  const text = line.slice(0, -withSeal('}', hashOf('')).length) + '}'
  const hash = hashOf(text)
  return withSeal(text, hash) === line ? { text, hash } : undefined
}

function damaged(number: number, what: string): ArchiveError {
  const message = `line ${number} of ${CHAIN_FILE} ${what}`
  return new ArchiveError('ARCHIVE_DAMAGED', message, { details: { file: CHAIN_FILE, line: number } })
}
