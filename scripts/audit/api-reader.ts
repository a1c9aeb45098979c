import { cut, ensureError } from '../../common/errors.js'
import type { AllCopies, Copies, Copy } from '../../topology/audit/copies.js'
import { AuditError } from '../../topology/audit/errors.js'
import type { JournalReader } from '../../topology/audit/journal-source.js'
import type { LogRecord, TopicDescription } from '../../topology/log/log.js'

const MAX_RECORDS = 10_000

interface RecordJson {
  readonly offset: number
  readonly timestamp: number
  readonly key: string | null
  readonly value: string | null
  readonly headers: Readonly<Record<string, string | readonly string[]>>
}

export interface ApiReader extends JournalReader {
  about(): Promise<{ readonly applicationId: string }>
  /** What this instance and the others hold; of one that does not answer that it does not. */
  copies(): Promise<AllCopies>
}

/** Journals of a running Pulsefold, over its API. Errors: AUDIT_SOURCE_UNREADABLE, AUDIT_ACCESS_DENIED. */
export function apiReader(url: string, token: string, signal?: AbortSignal): ApiReader {
  const askAt = <Answer>(at: string, path: string): Promise<Answer> => askJson<Answer>(at, path, token, signal)
  const ask = <Answer>(path: string): Promise<Answer> => askAt<Answer>(url, path)
  const topicPath = (topic: string): string => `/audit/topics/${encodeURIComponent(topic)}`
  return {
    about: () => ask('/audit'),
    async copies() {
      const own = await ask<Copies>('/audit/copies')
      const copies = copiesAt(url, own)
      const unread = [...own.unread]
      for (const other of own.others) {
        try {
          const held = await askAt<Copies>(other, '/audit/copies')
          copies.push(...copiesAt(other, held))
          unread.push(...held.unread)
        } catch (thrown) {
          unread.push(ensureError(thrown).message)
        }
      }
      return { copies, unread }
    },
    topic: async (name) => (await ask<{ topic: TopicDescription | null }>(topicPath(name))).topic ?? undefined,
    offsets: ({ topic, partition }) => ask(`${topicPath(topic)}/${partition}`),
    async offsetForTime({ topic, partition }, timestampMs) {
      return (await ask<{ offset: number }>(`${topicPath(topic)}/${partition}?time=${timestampMs}`)).offset
    },
    async read({ topic, partition }, offset, { maxRecords = MAX_RECORDS } = {}) {
      const query = `partition=${partition}&offset=${offset}&limit=${Math.min(maxRecords, MAX_RECORDS)}&encoding=base64`
      const path = `/ops/topics/${encodeURIComponent(topic)}/records?${query}`
      const answer = await ask<{ records: readonly RecordJson[]; next: Readonly<Record<string, number>> }>(path)
      const next = answer.next[String(partition)] ?? offset
      return { topic, partition, records: answer.records.map(recordOf), next, end: next }
    },
  }
}

function copiesAt(instance: string, { copies }: Copies): (Copy & { readonly instance: string })[] {
  return copies.map((copy) => ({ ...copy, instance }))
}

async function askJson<Answer>(
  url: string,
  path: string,
  token: string,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  if (!URL.canParse(url)) throw new AuditError('AUDIT_SOURCE_UNREADABLE', `${cut(url)} is no address`)
  const target = new URL(path, url)
  const headers: Record<string, string> = token === '' ? {} : { authorization: `Bearer ${token}` }
  const answer = await fetch(target, { headers, ...(signal && { signal }) }).catch((thrown: unknown) => {
    const message = `no answer from ${cut(target.origin)}: ${ensureError(thrown).message}`
    throw new AuditError('AUDIT_SOURCE_UNREADABLE', message, { cause: thrown })
  })
  const text = await answer.text()
  if (answer.ok) return JSON.parse(text) as Answer
  const code = answer.status === 401 ? 'AUDIT_ACCESS_DENIED' : 'AUDIT_SOURCE_UNREADABLE'
  throw new AuditError(code, `${target.origin}${target.pathname} answered ${answer.status}: ${cut(text, 200)}`)
}

function recordOf({ offset, timestamp, key, value, headers }: RecordJson): LogRecord {
  const bytes = (base64: string): Buffer => Buffer.from(base64, 'base64')
  return {
    offset,
    timestamp,
    key: key === null ? null : bytes(key),
    value: value === null ? null : bytes(value),
    headers: Object.entries(headers).flatMap(([name, values]) =>
      [values].flat().map((one) => [name, bytes(one)] as const),
    ),
  }
}
