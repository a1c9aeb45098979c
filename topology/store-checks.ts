import { sleep } from '../common/clock.js'
import type { Clock } from '../common/clock.js'
import { ensureError } from '../common/errors.js'
import { isDamage, StoreError } from '../state-stores/errors.js'
import type { Backlog } from './backlog.js'
import type { EngineObserver } from './observer.js'
import type { Processor } from './processor.js'
import type { Copy } from './queries.js'
import { checkStore } from './task/check-store.js'
import type { Turns } from './turns.js'

type CheckableCopy = Pick<Copy, 'state' | 'partition' | 'rows' | 'fail'>

/** The copies of a domain at this instance. */
export interface CheckableDomain {
  readonly processor: Pick<Processor, 'name' | 'tables'>
  readonly tasks: { readonly all: readonly CheckableCopy[] }
  readonly standbys: { readonly all: readonly CheckableCopy[] }
}

export interface StoreChecksOptions {
  readonly clock: Clock
  readonly turns: Turns
  readonly backlog: Pick<Backlog, 'giveWay'>
  readonly observer: Pick<EngineObserver, 'onStoreChecked' | 'onError'>
  readonly domains: ReadonlyMap<string, CheckableDomain>
}

interface Checkable {
  readonly name: string
  readonly processor: CheckableDomain['processor']
  readonly copy: CheckableCopy
}

/** A start is left alone: what it opens was just verified, and it has enough to do, ms. */
export const SETTLING_MS = 600_000
/** Each store is checked when it has come here, and again after so long, ms. */
const CHECK_INTERVAL_MS = 3_600_000
/** Between two looks at what is to be checked, ms. */
const LOOK_MS = 1000
/** After each turn of a check it pauses for so many times what that took. */
const PAUSES = 4
/** Before a store is checked again all rest for so many times what the last check took: it takes a quarter of a percent. */
const RESTS = 400

/**
 * Checks the stores of an instance one after the other, in the background, until `signal` ends it. A store found damaged fails as
 * by a read, and so is set aside and rebuilt; the one built in its place is checked when it would have been: what fails each
 * time is not rebuilt all the time.
 */
export async function checkStores(options: StoreChecksOptions, signal: AbortSignal): Promise<void> {
  const { clock } = options
  /** Monotonic time of each store's next check, by name; absent: now. */
  const dueAt = new Map<string, number>()
  let restsUntil = Number.NEGATIVE_INFINITY

  const nextOf = (all: readonly Checkable[]): Checkable | undefined => {
    const now = clock.monotonic()
    const timeOf = ({ name }: Checkable): number => dueAt.get(name) ?? Number.NEGATIVE_INFINITY
    return all
      .filter(({ copy: { state } }) => state === 'LIVE' || state === 'RUNNING')
      .filter((one) => !dueAt.has(one.name) || now >= Math.max(timeOf(one), restsUntil))
      .sort((a, b) => timeOf(a) - timeOf(b))[0]
  }

  await sleep(clock, SETTLING_MS, signal)
  while (!signal.aborted) {
    const all = checkablesOf(options.domains.values())
    for (const name of dueAt.keys()) if (!all.some((one) => one.name === name)) dueAt.delete(name)
    const next = nextOf(all)
    if (next === undefined) {
      await sleep(clock, LOOK_MS, signal)
    } else {
      const busyMs = await check(options, next, signal)
      const now = clock.monotonic()
      dueAt.set(next.name, now + (busyMs === undefined ? LOOK_MS : CHECK_INTERVAL_MS))
      if (busyMs !== undefined) restsUntil = now + RESTS * busyMs
    }
  }
}

/** Tasks first, and each store once. */
function checkablesOf(domains: Iterable<CheckableDomain>): readonly Checkable[] {
  const byName = new Map<string, Checkable>()
  for (const { processor, tasks, standbys } of domains) {
    for (const copy of [...tasks.all, ...standbys.all]) {
      const name = `${processor.name}/${copy.partition}`
      if (!byName.has(name)) byName.set(name, { name, processor, copy })
    }
  }
  return [...byName.values()]
}

/** Answers how long it took, ms, without its pauses; undefined: it came to no end, as the store was closed or not to be read. */
async function check(
  { clock, turns, backlog, observer }: StoreChecksOptions,
  { name, processor, copy }: Checkable,
  signal: AbortSignal,
): Promise<number | undefined> {
  const began = clock.monotonic()
  let pausedMs = 0
  const inTurn = async (work: () => void): Promise<void> => {
    let workedMs = 0
    await turns.run(() => {
      const from = clock.monotonic()
      work()
      workedMs = clock.monotonic() - from
    }, 'canWait')
    const from = clock.monotonic()
    if (workedMs > 0) await sleep(clock, PAUSES * workedMs, signal)
    await backlog.giveWay(clock, signal)
    signal.throwIfAborted()
    pausedMs += clock.monotonic() - from
  }
  let damage: StoreError | undefined
  try {
    await checkStore(copy.rows.store, processor.tables, inTurn)
  } catch (thrown) {
    const error = ensureError(thrown)
    if (signal.aborted || (error instanceof StoreError && error.code === 'STORE_CLOSED')) return undefined
    if (!isDamage(error)) {
      observer.onError(`check of ${name}`, error)
      return undefined
    }
    damage = error
  }
  const busyMs = clock.monotonic() - began - pausedMs
  observer.onStoreChecked(processor.name, copy.partition, busyMs, damage === undefined)
  if (damage !== undefined) copy.fail(damage)
  return busyMs
}
