import { createHash } from 'node:crypto'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cut, ensureError } from '../../common/errors.js'
import { ArchiveError } from './errors.js'
import type { ArchiveLine } from './lines.js'

/** Each line names the hash of the one before, so none can be changed, left out or moved. */
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
}

export const CHAIN_FILE = 'archive.jsonl'
const START = 'pulsefold-archive'

/** The chain of an archive; empty where there is none yet. Errors: ARCHIVE_DAMAGED. */
export async function readChain(directory: string): Promise<Chain> {
  const text = await readFile(join(directory, CHAIN_FILE), 'utf8').catch((thrown: unknown) => {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw new ArchiveError('ARCHIVE_UNREADABLE', ensureError(thrown).message, { cause: thrown })
  })
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  const lines: ArchiveLine[] = []
  let head = hashOf(START)
  for (const [i, one] of whole.split('\n').slice(0, -1).entries()) {
    const { previous, line } = parse(one, i + 1)
    if (previous !== head) throw damaged(i + 1, `does not follow the line before it`)
    lines.push(line)
    head = hashOf(one)
  }
  return { lines, head, bytes: Buffer.byteLength(whole) }
}

/** Appends a line, on disk when this resolves; answers the chain's new end. */
export async function appendLine(directory: string, end: ChainEnd, line: ArchiveLine): Promise<ChainEnd> {
  const text = JSON.stringify({ previous: end.head, line } satisfies ChainedLine)
  const bytes = Buffer.from(text + '\n')
  const file = await open(join(directory, CHAIN_FILE), 'a+')
  try {
    // What a writer that was killed has begun is not part of the chain.
    await file.truncate(end.bytes)
    await file.appendFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
  return { head: hashOf(text), bytes: end.bytes + bytes.length }
}

export function hashOf(bytes: string | Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function parse(text: string, number: number): ChainedLine {
  try {
    return JSON.parse(text) as ChainedLine
  } catch (thrown) {
    throw damaged(number, `is not readable: ${cut(ensureError(thrown).message, 100)}`)
  }
}

function damaged(number: number, what: string): ArchiveError {
  const message = `line ${number} of ${CHAIN_FILE} ${what}`
  return new ArchiveError('ARCHIVE_DAMAGED', message, { details: { file: CHAIN_FILE, line: number } })
}
