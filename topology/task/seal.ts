import { JSON_SCHEMA_DRAFT } from '../../schemas/json-schema.js'
import { deserializeStoreDigest } from '../../state-stores/digest.js'
import type { LogRecord, NewRecord } from '../log/log.js'
import type { CommitRecord } from './commit-record.js'

/** What a task vouches for with a commit: the state at a journal position, by its digests. */
export interface Seal {
  /** Journal offset that the state stands for: the next record to fold. */
  readonly offset: number
  /** Journal time of the state, ms. */
  readonly time: number
  readonly epoch: number
  readonly foldVersion: number
  /** Digests in hex. */
  readonly rows: string
  readonly withoutPositions: string
}

const fields = {
  offset: { type: 'integer', minimum: 0 },
  time: { type: 'integer', description: 'ms since 1970' },
  epoch: { type: 'integer', minimum: 0 },
  foldVersion: { type: 'integer', minimum: 1 },
  rows: { type: 'string', description: 'hex' },
  withoutPositions: { type: 'string', description: 'hex' },
} satisfies Record<keyof Seal, object>

/** Values of the digests topic. */
export const sealJson = {
  $schema: JSON_SCHEMA_DRAFT,
  $id: 'urn:pulsefold:seal:1.0.0',
  title: 'Seal',
  type: 'object',
  properties: fields,
  required: Object.keys(fields),
} as const

const SECOND_MS = 1000

/**
 * A seal as a record of the compacted digests topic. Its key is the second of its journal time within the time that journals
 * are kept: so the topic keeps at most one seal a second, and those of journals gone are replaced.
 */
export function sealRecord(commit: CommitRecord, digest: Buffer, journalRetentionMs: number): NewRecord {
  const { offset, time, epoch, foldVersion } = commit
  const { rows, withoutPositions } = deserializeStoreDigest(digest)
  const digests = { rows: rows.toHex(), withoutPositions: withoutPositions.toHex() }
  const seal: Seal = { offset, time, epoch, foldVersion, ...digests }
  const slots = Math.max(1, Math.ceil(journalRetentionMs / SECOND_MS))
  return {
    key: Buffer.from(String(Math.floor(time / SECOND_MS) % slots)),
    value: Buffer.from(JSON.stringify(seal)),
  }
}

/** Undefined for a record that is none. */
export function parseSeal({ value }: LogRecord): Seal | undefined {
  return value === null ? undefined : (JSON.parse(value.toString()) as Seal)
}
