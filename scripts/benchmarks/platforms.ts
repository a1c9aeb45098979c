import { addressHealthQueries } from '../../processors/address-health/index.js'
import type { PlatformView } from '../../processors/address-health/index.js'
import type { Application } from '../../topology/application.js'
import type { Headers, NewRecord } from '../../topology/log/log.js'
import { partitionOf } from '../../topology/partitioner.js'
import { until } from './answers.js'
import type { HttpRequest } from './http-connection.js'
import type { HttpCaller } from './http-caller.js'
import { PARTITIONS } from './heartbeats.js'

export const ADDRESS_HEALTH = 'address-health'
export const OUTCOME_TOPIC = 'sis-call-outcomes'
export const ADDRESSES = 10

const HOUR_MS = 3_600_000
const text = (value: string): Buffer => Buffer.from(value)
const COMMON: Headers = [
  ['ce_specversion', text('1.0')],
  ['ce_source', text('sis-node-1')],
  ['ce_type', text('com.opencloud.sis.call-outcome')],
  ['content-type', text('application/json')],
]

export function platformNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `platform-${at + 1}`)
}

const addressOf = (at: number): string => `10.0.0.${at + 1}:5060`

/** Creates the platforms over HTTP, with ten addresses each, which intervals of an hour let stand as they are. */
export async function createPlatforms(caller: HttpCaller, names: readonly string[]): Promise<void> {
  const addresses = Array.from({ length: ADDRESSES }, (_, at) => addressOf(at))
  await caller.send(
    names.map((name): HttpRequest => {
      const body = JSON.stringify({ name, selectionMode: 'ROUND_ROBIN', detectInterval: HOUR_MS, addresses })
      return { method: 'POST', path: '/external-platforms', body }
    }),
  )
}

/** The outcome of call `number`, as a node sends it over Kafka: one of ten has failed. */
export function outcomeRecord(platform: string, address: number, number: number): NewRecord {
  const result = number % 10 === 0 ? 'failure' : 'success'
  const data = { platform, address: addressOf(address), result, callId: `call-${number}@sis-node-1` }
  const headers: Headers = [...COMMON, ['ce_id', text(`outcome-${number}`)]]
  return { key: text(platform), value: text(JSON.stringify(data)), headers }
}

/** Outcomes from call `first` on, over all addresses in turn, by partition. */
export function outcomesByPartition(names: readonly string[], first: number, count: number): readonly NewRecord[][] {
  const records = Array.from({ length: PARTITIONS }, (): NewRecord[] => [])
  for (let number = first; number < first + count; number++) {
    const platform = names[number % names.length] ?? ''
    const address = Math.floor(number / names.length) % ADDRESSES
    records[partitionOf(platform, PARTITIONS)]?.push(outcomeRecord(platform, address, number))
  }
  return records
}

/** Waits until all outcomes are folded: a partition is folded in order, so the platform of its last one tells of all before. */
export async function untilCounted(
  application: Application,
  records: readonly NewRecord[][],
  callsOfEach: number,
): Promise<void> {
  const waiting = new Set(records.map((some) => some.at(-1)?.key?.toString() ?? ''))
  await until(async () => {
    for (const platform of waiting) {
      const answer = await application.query(ADDRESS_HEALTH, addressHealthQueries.platform, platform, { platform })
      if (answer.ok && answer.result !== null && sumOf([answer.result]).calls >= callsOfEach) waiting.delete(platform)
    }
    return waiting.size === 0
  })
}

/** Counts of all platforms, as they are shown. */
export async function countedCalls(application: Application): Promise<Counts> {
  const pages = await application.queryAll(ADDRESS_HEALTH, addressHealthQueries.platforms, { limit: 1_000_000 })
  return sumOf(
    pages.flatMap((page) => {
      if (!page.ok) throw new Error(page.message)
      return page.result
    }),
  )
}

interface Counts {
  readonly calls: number
  readonly failed: number
}

function sumOf(platforms: readonly PlatformView[]): Counts {
  let calls = 0
  let failed = 0
  for (const { window } of platforms.flatMap(({ addresses }) => addresses)) {
    calls += window.calls
    failed += window.failed
  }
  return { calls, failed }
}
