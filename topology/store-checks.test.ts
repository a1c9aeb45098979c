import t from 'tap'
import { manualClock } from '../common/manual-clock.js'
import { StoreError } from '../state-stores/errors.js'
import { memoryProvider } from '../state-stores/memory/provider.js'
import { Backlog } from './backlog.js'
import { countingProcessor } from './counting-processor.js'
import { silentObserver } from './observer.js'
import { checkStores, SETTLING_MS } from './store-checks.js'
import type { CheckableDomain } from './store-checks.js'
import { RowStore } from './task/row-store.js'
import { Turns } from './turns.js'

const HOUR_MS = 3_600_000

type Copy = CheckableDomain['tasks']['all'][number]

/** Copies of a domain whose stores are empty, and what becomes of them. */
async function checking(partitions: number) {
  const clock = manualClock()
  const stores = memoryProvider()
  const states = new Map<number, Copy['state']>()
  const failed: number[] = []
  const checked: string[] = []
  const copies = await Promise.all(
    Array.from({ length: partitions }, async (_, partition): Promise<Copy> => {
      const rows = new RowStore(await stores.open(`counting-${partition}`), countingProcessor.tables, 0)
      return {
        ...{ partition, rows },
        get state() {
          return states.get(partition) ?? 'LIVE'
        },
        fail: () => void failed.push(partition),
      }
    }),
  )
  const domain = {
    processor: countingProcessor,
    tasks: { all: copies.slice(1) },
    standbys: { all: copies.slice(0, 1) },
  }
  const stopping = new AbortController()
  const observer = {
    onStoreChecked: (_domain: string, partition: number, _busyMs: number, isIntact: boolean) =>
      void checked.push(`${partition}${isIntact ? '' : ' damaged'}`),
    onError: (where: string, error: Error) => void checked.push(`${where}: ${error.message}`),
  }
  let done: Promise<void> | undefined
  const start = (): Promise<void> =>
    checkStores(
      {
        ...{ clock, turns: new Turns(clock), backlog: new Backlog(), observer: { ...silentObserver, ...observer } },
        domains: new Map([['counting', domain]]),
      },
      stopping.signal,
    )
  /** What is checked until the clock has gone on so far; the first call starts, and lets the start settle. */
  const after = async (ms: number): Promise<string[]> => {
    if (done === undefined) {
      done = start()
      await clock.advance(SETTLING_MS)
    }
    await clock.advance(ms)
    for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve))
    return checked.splice(0)
  }
  const stop = async (): Promise<void> => {
    stopping.abort()
    await done
  }
  return { stores, states, failed, copies, after, stop }
}

t.test('stores are checked once they are here, those of tasks first, and again every hour', async (t) => {
  const { after, stop, failed } = await checking(3)
  t.same(await after(0), ['1', '2', '0'])
  t.same(await after(HOUR_MS - 2000), [])
  t.same(await after(3000), ['1', '2', '0'])
  t.same(failed, [])
  await stop()
})

t.test('what is being restored waits, what is closed is tried again, what is damaged fails', async (t) => {
  const { after, stop, states, copies, stores, failed } = await checking(4)
  states.set(2, 'RESTORING')
  stores.failReads('counting-1', 1)
  await copies[3]!.rows.store.close()
  t.same(await after(0), ['1 damaged', '0'])
  copies[3]!.rows.replaceStore(await stores.open('counting-3'))
  states.set(2, 'RUNNING')
  t.same(await after(1000), ['2', '3'])
  t.same(failed, [1], 'and it is not checked again soon')
  await stop()
})

t.test('a store that cannot be read for want of something is told of, and is no damage', async (t) => {
  const { after, stop, copies, failed } = await checking(2)
  const { store } = copies[1]!.rows
  const refuse = () => Promise.reject(new StoreError('STORE_UNAVAILABLE', 'too many open files'))
  copies[1]!.rows.replaceStore({ ...store, verify: refuse })
  t.same(await after(0), ['check of counting/1: too many open files', '0'])
  copies[1]!.rows.replaceStore(store)
  t.same(await after(2000), ['1'])
  t.same(failed, [])
  await stop()
})
