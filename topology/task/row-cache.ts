/** Rough memory of a cached row besides its key and bytes. */
const ROW_OVERHEAD_BYTES = 110

/** One table's rows in the cache. */
export interface RowCachePart {
  /** A row's bytes as a latin1 text; empty: the store has no such row; undefined: not known. */
  get(key: string): string | undefined
  set(key: string, text: string): void
}

/**
 * Encoded rows of all tasks of an instance within one bound: a task takes what the others leave. Rows are latin1 texts, for a
 * small Buffer would keep its whole slab of memory alive. When half of the bound is taken by what was used since, all that
 * was not is forgotten: nearly the order of use, without keeping it.
 */
export class RowCache {
  readonly #halfBytes: number
  #bytes = 0
  /** Those with rows; a part that is used no longer goes with its rows. */
  #parts = new Set<Part>()

  constructor(maxBytes: number) {
    this.#halfBytes = maxBytes / 2
  }

  /** A part that does not see what others have put. */
  part(): RowCachePart {
    return new Part(this.#halfBytes, (part, bytes) => this.#grown(part, bytes))
  }

  #grown(part: Part, bytes: number): void {
    this.#parts.add(part)
    this.#bytes += bytes
    if (this.#bytes <= this.#halfBytes) return
    this.#bytes = 0
    const parts = this.#parts
    this.#parts = new Set()
    for (const each of parts) if (each.age()) this.#parts.add(each)
  }
}

/** Those of an instance. */
export interface RowCaches {
  readonly events: RowCache
  /** Rows that queries alone read again; absent: there are none. */
  readonly queries?: RowCache
}

/** Within one bound. */
export function rowCaches(maxBytes: number): RowCaches {
  const queryBytes = maxBytes / 6
  return { events: new RowCache(maxBytes - queryBytes), queries: new RowCache(queryBytes) }
}

class Part implements RowCachePart {
  readonly #maxRowBytes: number
  readonly #onGrown: (part: Part, bytes: number) => void
  #used = new Map<string, string>()
  #older = new Map<string, string>()

  constructor(maxRowBytes: number, onGrown: (part: Part, bytes: number) => void) {
    this.#maxRowBytes = maxRowBytes
    this.#onGrown = onGrown
  }

  get(key: string): string | undefined {
    const text = this.#used.get(key)
    if (text !== undefined) return text
    const older = this.#older.get(key)
    if (older !== undefined) this.#use(key, older, undefined)
    return older
  }

  set(key: string, text: string): void {
    if (rowBytes(key, text) <= this.#maxRowBytes) {
      this.#use(key, text, this.#used.get(key))
    } else {
      this.#used.delete(key)
      this.#older.delete(key)
    }
  }

  /** Makes what was used the older, in its place; false when there is nothing any more. */
  age(): boolean {
    this.#older = this.#used
    this.#used = new Map()
    return this.#older.size > 0
  }

  #use(key: string, text: string, former: string | undefined): void {
    this.#used.set(key, text)
    this.#onGrown(this, former === undefined ? rowBytes(key, text) : text.length - former.length)
  }
}

function rowBytes(key: string, text: string): number {
  return ROW_OVERHEAD_BYTES + key.length + text.length
}
