import { sleep, type Clock } from '../../common/clock.js'
import type { TrustLevel } from '../../schemas/trust-level/journal-events.js'
import type { DmiPlugin } from './dmi-plugin.js'
import { expectationOf, type Expectation } from './expectation.js'
import { plannedHeartbeats, type PlannedOutage, type PlanOptions, type SimulatedDevice } from './plan.js'
import type { Progress } from './progress.js'
import type { PulsefoldApi } from './pulsefold-api.js'
import { seededRandom } from '../../common/random.js'
import type { OutageReport } from './report.js'

/** What a device says of itself; `device` is its index. */
interface DeviceReport {
  readonly device: number
  readonly trustLevel: TrustLevel
}

/** Who plays in a run, and how it is told. */
export interface Cast {
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly progress: Progress
  readonly options: PlanOptions
  readonly api: PulsefoldApi
  readonly plugins: readonly DmiPlugin[]
  readonly devices: readonly SimulatedDevice[]
}

/** A run under way. */
export interface Run extends Cast {
  readonly expectation: Expectation
  readonly sent: Readonly<Record<TrustLevel, number>>
  readonly startedMs: number
  /** Reports leave one batch after the other, so that the last one sent is the last one taken. */
  report(reports: () => readonly DeviceReport[]): Promise<void>
}

const TICK_MS = 500
const MOST_HEARTBEATS_A_REQUEST = 5000
/** A check is due within 30 s, with the default settings; the rest is patience. */
const SEEN_WITHIN_MS = 45_000
const POLL_MS = 250

export function startRun(cast: Cast): Run {
  const { api, clock, devices } = cast
  const expectation = expectationOf(devices)
  const sent: Record<TrustLevel, number> = { NONE: 0, COMPLETE: 0 }
  let last: Promise<void> = Promise.resolve()
  const send = async (reports: readonly DeviceReport[]): Promise<void> => {
    for (const { device, trustLevel } of reports) {
      expectation.reported(device, trustLevel)
      sent[trustLevel] += 1
    }
    await api.report(
      reports.map(({ device, trustLevel }) => ({ cmHandle: devices[device]?.cmHandle ?? '', trustLevel })),
    )
  }
  const report: Run['report'] = (reports) => (last = last.then(() => send(reports())))
  return { ...cast, expectation, sent, startedMs: clock.monotonic(), report }
}

/** Sends the planned heartbeats at their times. */
export async function sendHeartbeats(run: Run): Promise<void> {
  const { clock, signal, options, progress, startedMs } = run
  const planned = plannedHeartbeats(options, seededRandom(options.seed))
  let next = planned.next()
  let done = 0
  while (next.done !== true) {
    signal.throwIfAborted()
    const elapsedMs = clock.monotonic() - startedMs
    const due: DeviceReport[] = []
    while (next.done !== true && next.value.atMs <= elapsedMs && due.length < MOST_HEARTBEATS_A_REQUEST) {
      due.push(next.value)
      next = planned.next()
    }
    if (due.length > 0) await run.report(() => due)
    progress.update((done += due.length))
    if (due.length < MOST_HEARTBEATS_A_REQUEST) await sleep(clock, TICK_MS, signal)
  }
}

/** Lets a plugin fail as planned. One that has returned reports all its devices at once, as one does that has started again. */
export async function playOutage(
  run: Run,
  { plugin, kind, startMs, returnsAfterMs }: PlannedOutage,
): Promise<OutageReport> {
  const { clock, signal, expectation, devices } = run
  const simulated = run.plugins[plugin]
  if (simulated === undefined) throw new RangeError(`there is no plugin ${plugin}`)
  await sleep(clock, startMs - (clock.monotonic() - run.startedMs), signal)
  simulated.setOutage(kind)
  expectation.pluginIs(plugin, 'NONE')
  const seenDownMs = await timeUntilSeen(run, simulated.address, 'NONE')
  if (returnsAfterMs === null) return { plugin: simulated.address, kind, seenDownMs, seenUpMs: null }
  await sleep(clock, returnsAfterMs, signal)
  simulated.setOutage(null)
  expectation.pluginIs(plugin, 'COMPLETE')
  const seenUpMs = await timeUntilSeen(run, simulated.address, 'COMPLETE')
  const own = devices.flatMap((device, index) => (device.plugin === plugin ? [index] : []))
  for (let from = 0; from < own.length; from += MOST_HEARTBEATS_A_REQUEST) {
    const part = own.slice(from, from + MOST_HEARTBEATS_A_REQUEST)
    await run.report(() => part.map((device) => ({ device, trustLevel: expectation.ownLevel(device) })))
  }
  return { plugin: simulated.address, kind, seenDownMs, seenUpMs }
}

async function timeUntilSeen(run: Run, plugin: string, trustLevel: TrustLevel): Promise<number | null> {
  const { api, clock, signal } = run
  const startedMs = clock.monotonic()
  for (;;) {
    signal.throwIfAborted()
    const isSeen = (await api.pluginLevel(plugin)) === trustLevel
    const elapsedMs = clock.monotonic() - startedMs
    if (isSeen) return elapsedMs
    if (elapsedMs > SEEN_WITHIN_MS) return null
    await sleep(clock, POLL_MS, signal)
  }
}
