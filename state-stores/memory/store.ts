import { StoreError } from '../errors.js'
import { closedError } from '../guarded-store.js'
import type { PageSource, StoreDriver } from '../guarded-store.js'
import type { Entry, WriteOperation } from '../key-value-store.js'
import type { Content } from './content.js'

/** What goes wrong next in a memory store; counted down at each call. */
export interface Faults {
  failingReads: number
  failingWrites: number
  isCrashed: boolean
}

const pageEntries = 1000

/**
 * The store driver over a content in memory. As with RocksDB a write takes effect after the call, in the order of the
 * calls, and after a failed one all later ones are refused until the store is opened anew.
 */
export function memoryDriver(location: string, content: Content, faults: Faults): StoreDriver {
  let failed: StoreError | undefined

  function assertReadable(): void {
    if (faults.isCrashed) throw closedError(location)
    if (faults.failingReads === 0) return
    faults.failingReads--
    throw new StoreError('STORE_CORRUPT', `cannot read from the store ${location}`, { details: { location } })
  }

  async function assertWritable(): Promise<void> {
    await Promise.resolve()
    if (faults.isCrashed) throw closedError(location)
    if (failed !== undefined) throw failed
    if (faults.failingWrites === 0) return
    faults.failingWrites--
    failed = new StoreError('STORE_WRITE_FAILED', `cannot write to the store ${location}`, { details: { location } })
    throw failed
  }

  function pages<E>(entries: readonly Entry[], convert: (entry: Entry) => E): PageSource<E> {
    let position = 0
    return {
      async next() {
        await Promise.resolve()
        assertReadable()
        if (position >= entries.length) return undefined
        const page = entries.slice(position, position + pageEntries)
        position += page.length
        return page.map(convert)
      },
      end: () => Promise.resolve(),
    }
  }

  const read = async (key: Buffer): Promise<Buffer | undefined> => {
    await Promise.resolve()
    assertReadable()
    const value = content.get(key)
    return value && Buffer.from(value)
  }

  return {
    get: read,
    async getMany(keys) {
      const values = keys.map((key) => content.get(key))
      await Promise.resolve()
      assertReadable()
      return values.map((value) => value && Buffer.from(value))
    },
    async write(operations, sync) {
      const copies = Array.from(operations, copyOperation)
      await assertWritable()
      content.apply(copies, sync)
    },
    entries: (range) => pages(content.select(range), (entry) => entry),
    texts: (range) => pages(content.select(range), ([key, value]) => [key.toString(), value.toString()] as const),
    async clear(range) {
      await assertWritable()
      content.apply(
        content.select(range).map(([key]) => ({ key, value: null })),
        false,
      )
    },
    verify: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }
}

function copyOperation({ key, value }: WriteOperation): WriteOperation {
  return { key: Buffer.from(key), value: value && Buffer.from(value) }
}
