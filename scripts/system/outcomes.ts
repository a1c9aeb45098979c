import type { Headers, NewRecord } from '../../topology/log/log.js'
import type { Client } from './http-client.js'
import { until } from './until.js'

export const OUTCOMES = 'sis-call-outcomes'
export const PLATFORMS = '/external-platforms'

export interface Address {
  readonly position: number
  readonly address: string
  readonly state: string
  readonly since: string
  readonly window: { readonly calls: number; readonly failed: number }
  readonly retry: { readonly successes: number; readonly nextAt: string | null }
}

export interface Selected {
  readonly address: string
  readonly position: number
  readonly attemptId?: string
  readonly fallback?: { readonly address: string }
}

/** Journal time at which a retry began: what its id is made of. */
export const begunAt = (attemptId: string): number => parseInt(attemptId.split('-')[1] ?? '', 36)

let calls = 0

/** A call outcome as a SIS node puts it on the topic. */
export function outcome(
  platform: string,
  address: string,
  result: string,
  parts: {
    readonly id?: string
    readonly attemptId?: string
    readonly timestamp?: number
    readonly time?: string
    /** The data as JSON, in place of the usual. */
    readonly json?: string
  } = {},
): NewRecord {
  const id = parts.id ?? `outcome-${++calls}`
  const { attemptId, timestamp, time } = parts
  const all: Record<string, string> = {
    ce_specversion: '1.0',
    ce_id: id,
    ce_source: 'sis',
    ce_type: 'com.opencloud.sis.call-outcome',
    'content-type': 'application/json',
    ...(time !== undefined && { ce_time: time }),
  }
  const headers: Headers = Object.entries(all).map(([name, value]) => [name, Buffer.from(value)])
  const json = parts.json ?? JSON.stringify({ platform, address, result, callId: id, attemptId: attemptId ?? null })
  return {
    key: Buffer.from(platform),
    value: Buffer.from(json),
    headers,
    ...(timestamp !== undefined && { timestamp }),
  }
}

/** External platforms in the words of the cases. */
export function platformsOf({ ask, json, records }: Client, alarmTopic = 'alarms') {
  const path = (platform: string): string => `${PLATFORMS}/${platform}`
  const addresses = async (platform: string): Promise<readonly Address[]> =>
    (await json<{ addresses: readonly Address[] }>(path(platform))).addresses
  return {
    addresses,
    async create(name: string, addresses: readonly string[], parameters: object = {}): Promise<void> {
      const body = { name, selectionMode: 'ACTIVE_STANDBY', addresses, ...parameters }
      const { status, text } = await ask(PLATFORMS, { body })
      if (status !== 201) throw new Error(`${status} ${text}`)
    },
    /** undefined: none is available. */
    async select(platform: string): Promise<Selected | undefined> {
      const { status, text } = await ask(`${path(platform)}/selections`, { body: { callId: `call-${++calls}` } })
      if (status !== 200 && status !== 503) throw new Error(`${status} ${text}`)
      return status === 200 ? (JSON.parse(text) as Selected) : undefined
    },
    /** Posts outcomes in one batch; rejects where they are not taken. */
    async report(
      outcomes: readonly { platform: string; address: string; result: string; callId?: string; attemptId?: string }[],
    ): Promise<void> {
      const body = outcomes.map((data) => {
        const callId = data.callId ?? `call-${++calls}`
        const event = { specversion: '1.0', id: `of ${callId}`, source: 'sis', type: 'com.opencloud.sis.call-outcome' }
        return { ...event, data: { ...data, callId } }
      })
      await json('/events', { body, headers: { 'content-type': 'application/cloudevents-batch+json' } })
    },
    counted: (platform: string, calls: number, position = 0): Promise<boolean> =>
      until(`${calls} calls are counted`, async () => (await addresses(platform))[position]?.window.calls === calls),
    stateIs: (platform: string, state: string, position = 0): Promise<boolean> =>
      until(`${platform} ${position} is ${state}`, async () => (await addresses(platform))[position]?.state === state),
    operate: (platform: string, position: number, operation: string) =>
      ask(`${path(platform)}/addresses/${position}/${operation}`, { method: 'POST' }),
    /** "raised vm/1 THRESHOLD", all that stand on the topic: at least `count`, for they come after the state that they tell of. */
    async alarms(count = 0): Promise<string[]> {
      const told = await until(`${count} alarms are told`, async () => {
        const found = await records(alarmTopic)
        return found.length >= count && found
      })
      return told.map(({ key, value }) => {
        const { state, reason } = JSON.parse(String(value)) as Record<string, string>
        return `${state} ${key} ${reason}`
      })
    },
  }
}
