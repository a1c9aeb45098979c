import { Agent, request as httpRequest } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { settingsWith } from '../../common/settings.js'
import type { Settings } from '../../common/settings.js'
import { until } from './until.js'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

export interface Asked {
  readonly method?: string
  /** Anything but a text or bytes goes as JSON. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export type Level = 'NONE' | 'COMPLETE'

export interface Handle {
  readonly cmHandle: string
  readonly trustLevel?: Level
  readonly alternateId?: string
  readonly publicCmHandleProperties?: Readonly<Record<string, string>>
}

/** A record of a topic as `/ops/topics/{topic}/records?encoding=base64` answers it, decoded to text. */
export interface TopicRecord {
  readonly partition: number
  readonly offset: number
  readonly timestamp: number
  readonly key: string | null
  readonly value: Buffer | null
  readonly headers: Readonly<Record<string, string>>
}

/** A client of a Pulsefold, with the words that the cases need. */
export interface Client {
  readonly ask: (path: string, asked?: Asked) => Promise<Answer>
  /** The JSON of an answer 200 or 202; rejects on another. */
  readonly json: <Body>(path: string, asked?: Asked) => Promise<Body>
  readonly registration: (body: object) => Promise<Answer>
  /** Registers in batches of 2,000; rejects when one fails. */
  readonly register: (plugin: string, handles: readonly (Handle | string)[]) => Promise<void>
  readonly remove: (plugin: string, cmHandles: readonly string[]) => Promise<void>
  /** The level of a handle; the status where it is not 200. */
  readonly level: (cmHandle: string, headers?: Readonly<Record<string, string>>) => Promise<Level | number>
  readonly levelIs: (cmHandle: string, wanted: Level | number, patienceMs?: number) => Promise<boolean>
  readonly search: (cmHandleQueryParameters?: readonly object[]) => Promise<string[]>
  readonly searchLevel: (trustLevel: string) => Promise<string[]>
  /** Posts heartbeats in one batch; the positions joined, as a read can demand them. Rejects where they are not taken. */
  readonly report: (levels: Iterable<readonly [cmHandle: string, level: Level]>, time?: string) => Promise<string>
  /** All records of a topic. */
  readonly records: (topic: string) => Promise<TopicRecord[]>
  /** `dev-1 COMPLETE>NONE` for each notice, a repeat left out, in the order of each handle. */
  readonly notices: (cmHandle?: string) => Promise<string[]>
  /** The sum of a metric over all series whose line holds each of `parts`. */
  readonly metric: (name: string, ...parts: readonly string[]) => Promise<number>
  readonly deadLetters: () => Promise<TopicRecord[]>
  readonly close: () => void
}

const BATCH_HANDLES = 2000

/** What the names of topics follow from. */
export type TopicNames = Pick<Settings, 'applicationId' | 'trustLevelNoticeTopic'>

const defaultNames = settingsWith({})

/** Sends the path as it is; `close` ends the connections kept for reuse. `onAccepted` is told of events taken. */
export function clientOf(
  address: () => string,
  onAccepted: (events: number) => void = () => undefined,
  { applicationId, trustLevelNoticeTopic }: TopicNames = defaultNames,
): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })

  function ask(path: string, { method, body, headers }: Asked = {}): Promise<Answer> {
    const isRaw = typeof body === 'string' || Buffer.isBuffer(body)
    const bytes = body === undefined || isRaw ? body : JSON.stringify(body)
    const contentType = body === undefined ? {} : { 'content-type': 'application/json' }
    return new Promise((resolve, reject) => {
      const { hostname, port } = new URL(address())
      const options = { agent, hostname, port, path, method: method ?? (body === undefined ? 'GET' : 'POST') }
      const request = httpRequest({ ...options, headers: { ...contentType, ...headers } }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          if (response.statusCode === 202) onAccepted((JSON.parse(text) as { accepted: number }).accepted)
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text })
        })
      })
      request.on('error', reject)
      request.end(bytes)
    })
  }

  async function json<Body>(path: string, asked: Asked = {}): Promise<Body> {
    const { status, text } = await ask(path, asked)
    if (status !== 200 && status !== 202) throw new Error(`${path}: ${status} ${text}`)
    return JSON.parse(text) as Body
  }

  const registration = (body: object): Promise<Answer> => ask('/ncmpInventory/v1/ch', { body })

  async function register(plugin: string, handles: readonly (Handle | string)[]): Promise<void> {
    for (let at = 0; at === 0 || at < handles.length; at += BATCH_HANDLES) {
      const part = handles.slice(at, at + BATCH_HANDLES)
      const createdCmHandles = part.map((handle) => (typeof handle === 'string' ? { cmHandle: handle } : handle))
      const { status, text } = await registration({ dmiPlugin: plugin, createdCmHandles })
      if (status !== 200) throw new Error(`registration: ${status} ${text}`)
    }
  }

  async function remove(plugin: string, removedCmHandles: readonly string[]): Promise<void> {
    const { status, text } = await registration({ dmiPlugin: plugin, removedCmHandles })
    if (status !== 200) throw new Error(`removal: ${status} ${text}`)
  }

  async function level(cmHandle: string, headers: Readonly<Record<string, string>> = {}): Promise<Level | number> {
    const { status, text } = await ask(`/ncmp/v1/ch/${encodeURIComponent(cmHandle)}`, { headers })
    return status === 200 ? (JSON.parse(text) as { trustLevel: Level }).trustLevel : status
  }

  const levelIs = (cmHandle: string, wanted: Level | number, patienceMs?: number): Promise<boolean> =>
    until(`${cmHandle} is ${wanted}`, async () => (await level(cmHandle)) === wanted, patienceMs)

  const search = (cmHandleQueryParameters?: readonly object[]): Promise<string[]> =>
    json<string[]>('/ncmp/v1/ch/id-searches', {
      body: cmHandleQueryParameters === undefined ? {} : { cmHandleQueryParameters },
    })

  const searchLevel = (trustLevel: string): Promise<string[]> =>
    search([{ conditionName: 'cmHandleWithTrustLevel', conditionParameters: [{ trustLevel }] }])

  async function report(levels: Iterable<readonly [cmHandle: string, level: Level]>, time?: string): Promise<string> {
    const events = [...levels].map(([id, trustLevel]) => ({
      specversion: '1.0',
      id,
      source: 'test',
      type: 'org.onap.cm.events.trustlevel-notification',
      ...(time !== undefined && { time }),
      data: { data: { trustLevel } },
    }))
    const headers = { 'content-type': 'application/cloudevents-batch+json' }
    const { positions } = await json<{ positions: { topic: string; partition: number; offset: number }[] }>('/events', {
      body: events,
      headers,
    })
    const highest = new Map<number, string>()
    for (const { topic, partition, offset } of positions) highest.set(partition, `${topic}/${partition}/${offset}`)
    return [...highest.values()].join(',')
  }

  async function records(topic: string): Promise<TopicRecord[]> {
    const text = (base64: string): string => Buffer.from(base64, 'base64').toString()
    const all: TopicRecord[] = []
    for (let partition = 0; ; partition++) {
      for (let offset: number | undefined; ;) {
        const from = offset === undefined ? '' : `&offset=${offset}`
        const path = `/ops/topics/${topic}/records?partition=${partition}&limit=10000&encoding=base64${from}`
        const { status, text: body } = await ask(path)
        if (status !== 200) {
          if (partition > 0) return all
          throw new Error(`${path}: ${status} ${body}`)
        }
        const page = JSON.parse(body) as {
          records: (Omit<TopicRecord, 'value'> & { value: string | null })[]
          next: Record<string, number>
        }
        for (const record of page.records) {
          const key = record.key === null ? null : text(record.key)
          const value = record.value === null ? null : Buffer.from(record.value, 'base64')
          const headers = Object.fromEntries(Object.entries(record.headers).map(([name, it]) => [name, text(it)]))
          all.push({ ...record, key, value, headers })
        }
        if (page.records.length === 0) break
        offset = page.next[String(partition)]
      }
    }
  }

  async function notices(cmHandle?: string): Promise<string[]> {
    const byId = new Map<string, string>()
    for (const { key, value, headers } of await records(trustLevelNoticeTopic)) {
      if (cmHandle !== undefined && key !== cmHandle) continue
      const { data } = JSON.parse(value?.toString() ?? '') as {
        data: { attributeValueChange: { oldAttributeValue?: Level; newAttributeValue: Level }[] }
      }
      const [change] = data.attributeValueChange
      byId.set(headers['ce_id'] ?? '', `${key} ${change?.oldAttributeValue ?? ''}>${change?.newAttributeValue}`)
    }
    return [...byId.values()]
  }

  async function metric(name: string, ...parts: readonly string[]): Promise<number> {
    const { text } = await ask('/metrics')
    return text
      .split('\n')
      .filter(
        (line) =>
          (line.startsWith(`${name}{`) || line.startsWith(`${name} `)) && parts.every((part) => line.includes(part)),
      )
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
  }

  return {
    ask,
    json,
    registration,
    register,
    remove,
    level,
    levelIs,
    search,
    searchLevel,
    report,
    records,
    notices,
    metric,
    deadLetters: () => records(`${applicationId}-dead-letters`),
    close: () => agent.destroy(),
  }
}
