import { countWhile } from '../count-while.js'

/** A sorted set of strings: an insert or delete moves at most one chunk, however many there are. */
export interface SortedKeys {
  /** The key must not be there yet. */
  add(key: string): void
  delete(key: string): void
  /** Keys from the first that is not below `lower`, ascending; all without it. */
  ascending(lower?: string): Generator<string, void>
  /** Keys from the last that is not above `upper`, descending; all without it. */
  descending(upper?: string): Generator<string, void>
}

const chunkSize = 512

export function sortedKeys(): SortedKeys {
  // Never empty, and no chunk but an only one is empty.
  const chunks: string[][] = [[]]

  /** The chunk that holds the key or would: the last that begins at or below it. */
  const chunkOf = (key: string): number =>
    Math.max(0, countWhile(chunks.length, (i) => (chunks[i]?.[0] ?? '') <= key) - 1)

  return {
    add(key) {
      const index = chunkOf(key)
      const chunk = chunks[index] ?? []
      chunk.splice(indexIn(chunk, key), 0, key)
      if (chunk.length > chunkSize) {
        // A chunk that grew at its end is left nearly full: keys often come in order.
        const half = chunk.at(-1) === key ? chunkSize - 1 : chunkSize >> 1
        chunks.splice(index + 1, 0, chunk.splice(half))
      }
    },
    delete(key) {
      const index = chunkOf(key)
      const chunk = chunks[index] ?? []
      const at = indexIn(chunk, key)
      if (chunk[at] !== key) return
      chunk.splice(at, 1)
      if (chunk.length === 0 && chunks.length > 1) chunks.splice(index, 1)
    },
    *ascending(lower = '') {
      let at = indexIn(chunks[chunkOf(lower)] ?? [], lower)
      for (let index = chunkOf(lower); index < chunks.length; index++, at = 0) yield* (chunks[index] ?? []).slice(at)
    },
    *descending(upper) {
      const from = upper === undefined ? chunks.length - 1 : chunkOf(upper)
      for (let index = from; index >= 0; index--) {
        const chunk = chunks[index] ?? []
        const end = upper === undefined ? chunk.length : countWhile(chunk.length, (i) => (chunk[i] ?? '') <= upper)
        yield* chunk.slice(0, end).reverse()
      }
    },
  }
}

function indexIn(chunk: readonly string[], key: string): number {
  return countWhile(chunk.length, (i) => (chunk[i] ?? '') < key)
}
