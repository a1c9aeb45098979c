import type { CallOutcomeReported } from '../../schemas/address-health/journal-events.js'
import type { Table } from '../../topology/processor.js'
import type { Context } from './context.js'
import { addressDeadline } from './deadlines.js'
import { idHash } from './id-hash.js'
import { addressKeys } from './keys.js'
import type { AddressKeys } from './keys.js'
import type { OpenPlatform } from './open-platform.js'
import { overflows, windows } from './tables.js'
import type { AddressRow } from './tables.js'
import { closedWindow, counted, emptyWindow, hasCounted } from './window-row.js'
import type { WindowRow } from './window-row.js'

export interface Counts {
  readonly calls: number
  readonly failed: number
}

const NO_COUNTS: Counts = { calls: 0, failed: 0 }

const CALL = 1
const EVENT = 2

/** The windows of an address by age, and the slot of the newest; without any, slot 1 counts as that, so that the first takes 0. */
export interface AddressWindows {
  readonly slot: Slot
  readonly newest?: WindowRow
  readonly older?: WindowRow
}

export function windowsOf(platform: string, address: AddressRow, rows: Rows): AddressWindows {
  const [firstKey, secondKey] = addressKeys(platform, address).windows
  const first = rows.get(windows, firstKey)
  const second = rows.get(windows, secondKey)
  if (first === undefined) return second === undefined ? { slot: 1 } : { slot: 1, newest: second }
  if (second === undefined) return { slot: 0, newest: first }
  return first.end > second.end ? { slot: 0, newest: first, older: second } : { slot: 1, newest: second, older: first }
}

/**
 * Counts the outcome of a call to an ACTIVE address whose due window was closed since its windows were read. Answers false for a repeat: its call or its event
 * was counted in this window or the one before. The first failure in a window arms the window's end: a window without
 * failures is never judged, so nothing needs to happen at its end. (address health, section 3, rows 6, 7 and 28)
 */
export function countCall(
  platform: OpenPlatform,
  address: AddressRow,
  { slot: newestSlot, newest, older }: AddressWindows,
  { result, callId, producer, eventId }: CallOutcomeReported,
  context: Context,
): boolean {
  const keys = addressKeys(platform.name, address)
  const { detectInterval } = platform.row
  const isOpen = newest !== undefined && !newest.isClosed && newest.end > context.time
  const current = isOpen ? newest : emptyWindow(endOfWindow(address.windowsFrom, detectInterval, context.time))
  const last = isOpen ? older : newest
  const slot = isOpen ? newestSlot : otherSlot(newestSlot)
  const isFailure = result === 'failure'

  let failedBefore = current.failed
  if (current.calls >= context.settings.outcomeIdLimit) {
    const overflow = overflowOf(current, context.get(overflows, keys.overflow))
    failedBefore += overflow.failed
    context.count('unchecked_outcomes')
    const failed = overflow.failed + (isFailure ? 1 : 0)
    context.put(overflows, keys.overflow, { end: current.end, calls: overflow.calls + 1, failed })
  } else {
    const callHash = idHash(CALL, callId)
    const eventHash = idHash(EVENT, producer, eventId)
    if (hasCounted(current, callHash, eventHash)) return false
    const isLastNear = last !== undefined && last.end > current.end - 2 * detectInterval
    if (isLastNear && hasCounted(last, callHash, eventHash)) return false
    context.put(windows, keys.windows[slot], counted(current, isFailure, callHash, eventHash))
  }
  if (isFailure && failedBefore === 0) {
    context.arm(current.end, addressDeadline('window', platform.name, address.id))
  }
  return true
}

/** Closes the window that is at its end; answers its counts, which are then to be judged. Undefined: there is nothing to judge. */
export function closeDueWindow(
  platform: OpenPlatform,
  address: AddressRow,
  { slot, newest }: AddressWindows,
  context: Context,
): Counts | undefined {
  if (newest === undefined || newest.isClosed || newest.end > context.time) return undefined
  const keys = addressKeys(platform.name, address)
  const counts = countsOf(newest, keys, context)
  if (counts.failed === 0) return undefined
  close(platform, address, keys.windows[slot], newest, context)
  return counts
}

/** Ends the window before its time, without judging it. (address health, section 3, rows 11 and 23) */
export function endWindow(platform: OpenPlatform, address: AddressRow, context: Context): void {
  const keys = addressKeys(platform.name, address)
  const { slot, newest } = windowsOf(platform.name, address, context)
  if (newest === undefined || newest.isClosed || newest.end <= context.time) return
  close(platform, address, keys.windows[slot], newest, context)
}

/** Forgets all windows of an address that is removed. */
export function forgetWindows(platform: string, address: AddressRow, context: Context): void {
  const keys = addressKeys(platform, address)
  for (const key of keys.windows) if (context.get(windows, key) !== undefined) context.delete(windows, key)
  if (context.get(overflows, keys.overflow) !== undefined) context.delete(overflows, keys.overflow)
}

/** Counts of the window in which `time` lies. */
export function currentCounts(platform: string, address: AddressRow, time: number, rows: Rows): Counts {
  if (address.state !== 'ACTIVE') return NO_COUNTS
  const keys = addressKeys(platform, address)
  const { newest } = windowsOf(platform, address, rows)
  if (newest === undefined || newest.isClosed || newest.end <= time) return NO_COUNTS
  return countsOf(newest, keys, rows)
}

/** When the window in which `time` lies began. */
export function startOfWindow(from: number, interval: number, time: number): number {
  return from + Math.floor((time - from) / interval) * interval
}

/** Rows of resident tables, as a fold or a query reads them. */
export interface Rows {
  get<Row>(table: Table<Row>, key: string): Row | undefined
}

type Slot = 0 | 1

const otherSlot = (slot: Slot): Slot => (slot === 0 ? 1 : 0)
const endOfWindow = (from: number, interval: number, time: number): number =>
  startOfWindow(from, interval, time) + interval

function countsOf(window: WindowRow, keys: AddressKeys, rows: Rows): Counts {
  const overflow = overflowOf(window, rows.get(overflows, keys.overflow))
  return { calls: window.calls + overflow.calls, failed: window.failed + overflow.failed }
}

function overflowOf({ end }: WindowRow, row: ({ readonly end: number } & Counts) | undefined): Counts {
  return row?.end === end ? row : NO_COUNTS
}

function close(platform: OpenPlatform, address: AddressRow, rowKey: string, window: WindowRow, context: Context): void {
  context.disarm(window.end, addressDeadline('window', platform.name, address.id))
  context.put(windows, rowKey, closedWindow(window, context.time))
}
