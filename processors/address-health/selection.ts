import type { AddressRow, PlatformRow } from './tables.js'
import { nextRetryAt } from './retries.js'
import type { AddressPlace, Selection } from './views.js'

/**
 * What an owner keeps of selections besides the journal: lost with it, which only means that a round begins anew, or that a
 * retry is offered once more; that it is not done twice is for the journal to see.
 */
export interface SelectionMemory {
  readonly platforms: Map<string, PlatformMemory>
  /** 0 to 1, for LOAD_SHARE. */
  readonly random: () => number
}

interface PlatformMemory {
  /** Position that ROUND_ROBIN gave last. */
  last: number
  /** Retries offered, by address id. */
  readonly offers: Map<number, { readonly dueAt: number; readonly offeredAt: number }>
}

/** One caller at a time gets a retry offered: another one only when nothing came of it. */
const OFFER_MS = 1000

export const newSelectionMemory = (random: () => number): SelectionMemory => ({ platforms: new Map(), random })

/**
 * Chooses the address for one call: by the platform's mode among the ACTIVE ones (in panic among the FAILED ones when there are
 * none), another one as its fallback, and beside them the first FAILED address whose retry is due.
 * (address health, section 3, rows 17 and 20 to 22)
 */
export function select(name: string, row: PlatformRow | undefined, now: number, memory: SelectionMemory): Selection {
  if (row === undefined) {
    memory.platforms.delete(name)
    return { found: false }
  }
  const active = placesOf(row, 'ACTIVE')
  const { selectionMode } = row
  if (selectionMode === 'INTERCEPTOR_SERVICE') {
    return { found: true, all: active, choice: null, fallback: null, retry: null, nextRetryMs: null }
  }
  const ofPlatform = memoryOf(name, memory)
  const candidates = active.length === 0 && row.panicMode ? placesOf(row, 'FAILED') : active
  const retry = offerRetry(row, now, ofPlatform)
  // In panic the address of the retry may be among them.
  const others = retry === null ? candidates : candidates.filter(({ position }) => position !== retry.position)
  // The retry may not be granted: its address is then as good as in panic any is.
  const [choice = candidates[0] ?? null, fallback = null] = inOrder(row, others, ofPlatform, memory.random)
  return { found: true, all: null, choice, fallback, retry, nextRetryMs: nextRetryMs(row, now) }
}

/** The first two to try. */
function inOrder(
  { selectionMode }: PlatformRow,
  candidates: readonly AddressPlace[],
  memory: PlatformMemory,
  random: () => number,
): readonly AddressPlace[] {
  if (selectionMode === 'LOAD_SHARE') {
    const first = Math.floor(random() * candidates.length)
    const others = candidates.toSpliced(first, 1)
    return [...candidates.slice(first, first + 1), ...others.slice(Math.floor(random() * others.length))]
  }
  if (selectionMode === 'ACTIVE_STANDBY') return candidates
  const from = Math.max(
    0,
    candidates.findIndex(({ position }) => position > memory.last),
  )
  const first = candidates[from]
  if (first === undefined) return []
  memory.last = first.position
  const second = candidates[(from + 1) % candidates.length]
  return second === undefined || second === first ? [first] : [first, second]
}

function offerRetry(
  row: PlatformRow,
  now: number,
  { offers }: PlatformMemory,
): (AddressPlace & { readonly addressId: number }) | null {
  let position = -1
  for (const address of row.addresses) {
    position++
    const dueAt = nextRetryAt(row, address)
    if (dueAt === null) {
      offers.delete(address.id)
      continue
    }
    const offer = offers.get(address.id)
    if (dueAt > now || (offer?.dueAt === dueAt && now < offer.offeredAt + OFFER_MS)) continue
    offers.set(address.id, { dueAt, offeredAt: now })
    return { addressId: address.id, address: address.address, position }
  }
  return null
}

function placesOf(row: PlatformRow, state: AddressRow['state']): AddressPlace[] {
  const places: AddressPlace[] = []
  row.addresses.forEach((address, position) => {
    if (address.state === state) places.push({ address: address.address, position })
  })
  return places
}

function memoryOf(name: string, { platforms }: SelectionMemory): PlatformMemory {
  const known = platforms.get(name)
  if (known !== undefined) return known
  const made: PlatformMemory = { last: -1, offers: new Map() }
  platforms.set(name, made)
  return made
}

function nextRetryMs(row: PlatformRow, now: number): number | null {
  let first = Infinity
  for (const address of row.addresses) first = Math.min(first, nextRetryAt(row, address) ?? Infinity)
  return first === Infinity ? null : Math.max(0, first - now)
}
