import type { Headers } from '../log/log.js'

/** Names under which a plain object answers with an inherited member: a Kafka client cannot send them faithfully. */
const INHERITED = new Set(Object.getOwnPropertyNames(Object.prototype))

/** The headers that every log driver can send again, and the names of those that it cannot. */
export function sendableHeaders(headers: Headers): { readonly headers: Headers; readonly dropped: readonly string[] } {
  const kept = headers.filter(([name]) => !INHERITED.has(name))
  return { headers: kept, dropped: headers.filter(([name]) => INHERITED.has(name)).map(([name]) => name) }
}
