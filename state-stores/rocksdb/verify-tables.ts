import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { ensureError } from '../../common/errors.js'
import { StoreError } from '../errors.js'
import type { InTurn } from '../key-value-store.js'
import { readError } from './native-error.js'
import { TableChecksums } from './table-checksums.js'
import { FOOTER_BYTES, parseFooter } from './table-footer.js'
import type { BlockHandle } from './table-footer.js'

/** A table that belongs to the store, whole and never changed any more. */
export interface LiveTable {
  readonly number: number
  readonly bytes: number
}

/** Bytes read, and looked at in one turn: about 0.2 ms. */
const TURN_BYTES = 64 * 1024

/** From RocksDB's property `rocksdb.sstables`: a line ` NUMBER:BYTES[…` for each. */
export function parseLiveTables(property: string): readonly LiveTable[] {
  return Array.from(property.matchAll(/^ (\d+):(\d+)\[/gm), ([, number, bytes]) => ({
    number: Number(number),
    bytes: Number(bytes),
  }))
}

/** Reads the tables whole and checks the checksum of each block, and what names them. Errors: STORE_CORRUPT, STORE_UNAVAILABLE, and those of `inTurn`. */
export async function verifyTables(location: string, tables: readonly LiveTable[], inTurn: InTurn): Promise<void> {
  const room = Buffer.allocUnsafe(TURN_BYTES)
  for (const { number, bytes } of tables) {
    const path = join(location, `${String(number).padStart(6, '0')}.sst`)
    const damagedAt = await findDamage(path, bytes, room, inTurn).catch((thrown: unknown) => {
      const error = ensureError(thrown)
      // Compacted away meanwhile.
      if ('code' in error && error.code === 'ENOENT') return undefined
      throw 'syscall' in error ? readError(location, error) : error
    })
    if (damagedAt === undefined) continue
    const what = `table ${number} is damaged from byte ${damagedAt} on: its checksums do not agree`
    throw new StoreError('STORE_CORRUPT', `${what}, in the store ${location}`, { details: { location } })
  }
}

/** The byte from which on the file is not as it should be; undefined: all is. */
async function findDamage(path: string, bytes: number, room: Buffer, inTurn: InTurn): Promise<number | undefined> {
  const file = await open(path, 'r')
  try {
    const end = bytes - FOOTER_BYTES
    const { bytesRead: footerBytes } = await file.read(room, 0, FOOTER_BYTES, end)
    const named = new Set(parseFooter(room.subarray(0, footerBytes))?.map(nameOf))
    if (named.size === 0) return end
    const checksums = new TableChecksums((block) => named.delete(nameOf(block)))
    let at = 0
    while (at < end) {
      const { bytesRead } = await file.read(room, 0, Math.min(room.length, end - at), at)
      let taken = 0
      await inTurn(() => (taken = checksums.take(room.subarray(0, bytesRead))))
      if (taken === 0) break
      at += taken
    }
    if (at < end || checksums.blockBytes > 0) return at - checksums.blockBytes
    return named.size === 0 ? undefined : end
  } finally {
    await file.close()
  }
}

function nameOf({ offset, bytes }: BlockHandle): string {
  return `${offset}/${bytes}`
}
