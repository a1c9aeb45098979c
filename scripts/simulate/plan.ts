import type { TrustLevel } from '../../schemas/trust-level/journal-events.js'
import type { Random } from '../../common/random.js'
import { drawn } from './random.js'

/** What a run is made of; the same options and seed give the same plan. */
export interface PlanOptions {
  readonly devices: number
  readonly plugins: number
  readonly outages: number
  /** Of the heartbeats that say NONE, 0 to 1. */
  readonly failureShare: number
  /** Between two heartbeats of a device. */
  readonly intervalMs: number
  readonly durationMs: number
  readonly seed: number
}

export interface SimulatedDevice {
  readonly cmHandle: string
  /** Index of its plugin. */
  readonly plugin: number
}

export interface Heartbeat {
  /** Since the start. */
  readonly atMs: number
  /** Index of the device. */
  readonly device: number
  readonly trustLevel: TrustLevel
}

/** How a plugin fails: each is "down" by another rule of the health check. */
export const OUTAGE_KINDS = ['answers 503', 'says DOWN', 'resets connections', 'never answers'] as const
export type OutageKind = (typeof OUTAGE_KINDS)[number]

export interface PlannedOutage {
  /** Index of the plugin; one outage a plugin. */
  readonly plugin: number
  readonly kind: OutageKind
  readonly startMs: number
  /** How long it stays down after Pulsefold has seen it; null: to the end. */
  readonly returnsAfterMs: number | null
}

/** Ids are the same in every run with a seed, so that a repeat replaces the devices of the run before. */
export function plannedDevices({ devices, plugins, seed }: PlanOptions): readonly SimulatedDevice[] {
  return Array.from({ length: devices }, (_, index) => ({
    cmHandle: `sim-${seed}-${String(index + 1).padStart(5, '0')}`,
    plugin: index % plugins,
  }))
}

/** All heartbeats in the order of time: each device once an interval, spread evenly over it. */
export function* plannedHeartbeats(options: PlanOptions, random: Random): Generator<Heartbeat, undefined> {
  const { devices, intervalMs, durationMs, failureShare } = options
  for (let index = 0; ; index++) {
    const atMs = (index * intervalMs) / devices
    if (atMs >= durationMs) return
    yield { atMs, device: index % devices, trustLevel: random() < failureShare ? 'NONE' : 'COMPLETE' }
  }
}

/** How many `plannedHeartbeats` gives. */
export function heartbeatCount({ devices, intervalMs, durationMs }: PlanOptions): number {
  return Math.ceil((durationMs * devices) / intervalMs)
}

/** Outages begin in the first third; every second plugin stays down to the end, the others return. */
export function plannedOutages(options: PlanOptions, random: Random): readonly PlannedOutage[] {
  return drawn(random, options.outages, options.plugins).map((plugin, index) => ({
    plugin,
    kind: OUTAGE_KINDS[Math.floor(random() * OUTAGE_KINDS.length)] ?? 'answers 503',
    startMs: Math.floor((random() * options.durationMs) / 3),
    returnsAfterMs: index % 2 === 0 ? Math.floor(random() * 5000) : null,
  }))
}
