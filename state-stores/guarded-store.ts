import { StoreError } from './errors.js'
import { assertKey, tightenRange } from './key-range.js'
import type { TightRange } from './key-range.js'
import type { Entry, InTurn, KeyRange, KeyValueStore, TextEntry, WriteOperation } from './key-value-store.js'

/** An iterator of a driver over one snapshot. Neither method is called while the other, or itself, is under way. */
export interface PageSource<E> {
  /** The next page, or undefined behind the last. */
  next(): Promise<readonly E[] | undefined>
  end(): Promise<void>
}

/**
 * What a driver does, after `guardedStore` has checked the arguments. No method is called after `close`, and `close`
 * only when nothing is under way and all page sources have ended. Bytes given are copied before a method returns.
 */
export interface StoreDriver {
  get(key: Buffer): Promise<Buffer | undefined>
  getMany(keys: readonly Buffer[]): Promise<(Buffer | undefined)[]>
  /** An array is checked. Of anything else nothing is written when it throws on the way. */
  write(operations: Iterable<WriteOperation>, sync: boolean): Promise<void>
  entries(range: TightRange): PageSource<Entry>
  texts(range: TightRange): PageSource<TextEntry>
  clear(range: TightRange): Promise<void>
  /** May go on after `close`, until the next turn; it uses nothing then that is closed. */
  verify(inTurn: InTurn): Promise<void>
  close(): Promise<void>
}

/** The store port over a driver: argument checks, the lifetime of iterators, and an orderly close. */
export function guardedStore(location: string, driver: StoreDriver): KeyValueStore {
  let closing: Promise<void> | undefined
  let underWay = 0
  let onIdle: (() => void) | undefined
  const endings = new Set<() => Promise<void>>()

  async function run<T>(work: () => Promise<T>): Promise<T> {
    if (closing !== undefined) throw closedError(location)
    underWay++
    try {
      return await work()
    } finally {
      underWay--
      if (underWay === 0) onIdle?.()
    }
  }

  function iterate<E>(
    open: (range: TightRange) => PageSource<E>,
    range: KeyRange | undefined,
  ): AsyncIterable<readonly E[]> {
    const tight = tightenRange(range)
    const source = closing === undefined ? open(tight) : undefined
    let ending = source === undefined ? Promise.resolve() : undefined
    let finished = false
    let last: Promise<unknown> = Promise.resolve()
    let waiting = 0

    const end = (): Promise<void> => (ending ??= source?.end().finally(() => endings.delete(end)) ?? Promise.resolve())
    if (source !== undefined) endings.add(end)

    const finish = async (): Promise<IteratorReturnResult<undefined>> => {
      finished = true
      await end()
      return { done: true, value: undefined }
    }
    const next = async (): Promise<IteratorResult<readonly E[], undefined>> => {
      if (finished) return { done: true, value: undefined }
      try {
        const page = await run(() => source?.next() ?? Promise.reject(closedError(location)))
        return page === undefined ? await finish() : { done: false, value: page }
      } catch (error) {
        await finish()
        throw error
      }
    }
    // One call after the other, as in an async generator; but the snapshot is there before the first call.
    const inTurn = <T>(call: () => Promise<T>): Promise<T> => {
      const turn = waiting === 0 ? call() : last.then(call)
      waiting++
      last = turn.then(
        () => waiting--,
        () => waiting--,
      )
      return turn
    }
    const iterator = { next: () => inTurn(next), return: () => inTurn(finish) }
    return { [Symbol.asyncIterator]: () => iterator }
  }

  async function shutDown(): Promise<void> {
    if (underWay > 0) await new Promise<void>((resolve) => (onIdle = resolve))
    await Promise.all([...endings].map((end) => end()))
    await driver.close()
  }

  return {
    location,
    get: (key) =>
      run(() => {
        assertKey(key)
        return driver.get(key)
      }),
    getMany: (keys) =>
      run(() => {
        keys.forEach(assertKey)
        return keys.length === 0 ? Promise.resolve([]) : driver.getMany(keys)
      }),
    write: (operations, options) =>
      run(() => {
        const isArray = Array.isArray(operations)
        if (isArray) operations.forEach(assertOperation)
        return driver.write(isArray ? operations : checked(operations), options?.sync ?? false)
      }),
    entries: (range) => iterate((tight) => driver.entries(tight), range),
    texts: (range) => iterate((tight) => driver.texts(tight), range),
    verify: async (inTurn = atOnce) => {
      if (closing !== undefined) throw closedError(location)
      await driver.verify(async (work) => {
        await inTurn(work)
        if (closing !== undefined) throw closedError(location)
      })
    },
    clear: (range) => run(() => driver.clear(tightenRange(range))),
    get openIterators() {
      return endings.size
    },
    close: () => (closing ??= shutDown()),
  }
}

/** For `verify`, where nobody else waits. */
export function atOnce(work: () => void): Promise<void> {
  work()
  return Promise.resolve()
}

function* checked(operations: Iterable<WriteOperation>): Generator<WriteOperation, void> {
  for (const operation of operations) {
    assertOperation(operation)
    yield operation
  }
}

function assertOperation({ key, value }: WriteOperation): void {
  assertKey(key)
  if (value !== null && !Buffer.isBuffer(value)) throw new TypeError('a value must be a Buffer or null')
}

export function closedError(location: string): StoreError {
  return new StoreError('STORE_CLOSED', `the store ${location} is closing or closed`, { details: { location } })
}
