import { LRUCache } from 'lru-cache'

/** Rough memory of a cached row besides its key and bytes. */
const ROW_OVERHEAD_BYTES = 150
/** Parts that can be told apart at a time; far more than there are tasks. */
const MAX_PARTS = 0x10000

/** One task's rows in the cache. */
export interface RowCachePart {
  /** Undefined: not known. */
  get(key: string): { readonly bytes: Buffer | undefined } | undefined
  /** Without bytes: the store has no such row. */
  set(key: string, bytes: Buffer | undefined): void
}

const ABSENT = { bytes: undefined }

/** Encoded rows of all tasks of an instance within one bound: a task takes what the others leave. The least used go first. */
export class RowCache {
  /** Rows as one-byte texts: a small Buffer would keep its whole slab of memory alive. Empty: the store has none. */
  readonly #rows: LRUCache<string, string>
  #parts = 0

  constructor(maxBytes: number) {
    this.#rows = new LRUCache({
      maxSize: Math.max(1, maxBytes),
      sizeCalculation: (bytes, key) => ROW_OVERHEAD_BYTES + key.length + bytes.length,
    })
  }

  /** A part that does not see what others, or earlier ones of the same task, have put. */
  part(): RowCachePart {
    const number = this.#parts++ % MAX_PARTS
    const prefix = String.fromCharCode(number & 0xff, number >> 8)
    return {
      get: (key) => {
        const text = this.#rows.get(prefix + key)
        if (text === undefined) return undefined
        return text === '' ? ABSENT : { bytes: Buffer.from(text, 'latin1') }
      },
      set: (key, bytes) => void this.#rows.set(prefix + key, bytes?.toString('latin1') ?? ''),
    }
  }
}
