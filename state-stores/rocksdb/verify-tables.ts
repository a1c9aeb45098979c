import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { ensureError } from '../../common/errors.js'
import { StoreError } from '../errors.js'
import type { InTurn } from '../key-value-store.js'
import { readError } from './native-error.js'
import { TableChecksums } from './table-checksums.js'

/** A table that belongs to the store, whole and never changed any more. */
export interface LiveTable {
  readonly number: number
  readonly bytes: number
}

/** Bytes read, and looked at in one turn: about 0.2 ms. */
const TURN_BYTES = 64 * 1024
/** What stands behind the last block: the handles of others, format version and magic number (table/format.h). */
const FOOTER_BYTES = 53

/** From RocksDB's property `rocksdb.sstables`: a line ` NUMBER:BYTES[…` for each. */
export function parseLiveTables(property: string): readonly LiveTable[] {
  return Array.from(property.matchAll(/^ (\d+):(\d+)\[/gm), ([, number, bytes]) => ({
    number: Number(number),
    bytes: Number(bytes),
  }))
}

/** Reads the tables whole and checks the checksum of each block. Errors: STORE_CORRUPT, STORE_UNAVAILABLE, and those of `inTurn`. */
export async function verifyTables(location: string, tables: readonly LiveTable[], inTurn: InTurn): Promise<void> {
  const room = Buffer.allocUnsafe(TURN_BYTES)
  for (const { number, bytes } of tables) {
    const path = join(location, `${String(number).padStart(6, '0')}.sst`)
    const damagedAt = await findDamage(path, bytes - FOOTER_BYTES, room, inTurn).catch((thrown: unknown) => {
      const error = ensureError(thrown)
      // Compacted away meanwhile.
      if ('code' in error && error.code === 'ENOENT') return undefined
      throw 'syscall' in error ? readError(location, error) : error
    })
    if (damagedAt === undefined) continue
    const what = `table ${number} is damaged: checksums do not agree from byte ${damagedAt} on`
    throw new StoreError('STORE_CORRUPT', `${what}, in the store ${location}`, { details: { location } })
  }
}

/** The byte from which on no block ends as it should; undefined: all do. */
async function findDamage(path: string, bytes: number, room: Buffer, inTurn: InTurn): Promise<number | undefined> {
  const file = await open(path, 'r')
  try {
    const checksums = new TableChecksums()
    let at = 0
    while (at < bytes) {
      const { bytesRead } = await file.read(room, 0, Math.min(room.length, bytes - at), at)
      let taken = 0
      await inTurn(() => (taken = checksums.take(room.subarray(0, bytesRead))))
      if (taken === 0) break
      at += taken
    }
    return at === bytes && checksums.blockBytes === 0 ? undefined : at - checksums.blockBytes
  } finally {
    await file.close()
  }
}
