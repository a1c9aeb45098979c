import type { PluginAddressPolicy } from '../common/plugin-address.js'
import type { Clock } from '../common/clock.js'
import type { KeyValueStore } from '../state-stores/key-value-store.js'
import type { Copies } from '../topology/audit/copies.js'
import type { JournalSource } from '../topology/audit/journal-source.js'
import type { LogRecord } from '../topology/log/log.js'
import type { Streams } from '../topology/streams.js'
import type { Gate } from './gate.js'
import type { TrustLevelQueries } from './trust-level-queries.js'

/** Writes log lines; a pino logger is one. */
export interface ApiLogger {
  level: string
  child(bindings: Record<string, unknown>): ApiLogger
  fatal(fields: object, message?: string): void
  error(fields: object, message?: string): void
  warn(fields: object, message?: string): void
  info(fields: object, message?: string): void
  debug(fields: object, message?: string): void
  trace(fields: object, message?: string): void
  silent(fields: object, message?: string): void
}

/** A record's value as JSON; undefined where nothing is known of the topic. */
export type DecodeRecord = (topic: string, record: LogRecord) => unknown

/** All that the routes are made of; everything nondeterministic comes in here. */
export interface Api {
  readonly streams: Streams
  readonly queries: TrustLevelQueries
  readonly clock: Clock
  /** Ids of requests and of commands without Idempotency-Key: never the same twice, over restarts too. */
  readonly newId: () => string
  readonly pluginAddressPolicy: PluginAddressPolicy
  readonly ncmpBasePath: string
  readonly ncmpInventoryBasePath: string
  readonly applicationId: string
  /** The RIC of the paths below `/v1`. */
  readonly ricId: string
  /** Bearer token of auditors; empty: none, and only callers on this machine are answered. */
  readonly auditToken: string
  /** Journals as audits read them, opened for each question: the log's, with an archive of what it no longer has where there is one. */
  readonly auditSource: () => Promise<JournalSource>
  /** An empty store for an audit to fold into; the audit closes it. */
  readonly openAuditStore: () => Promise<KeyValueStore>
  /** Of two sites in one log: the topic of the other site's journal of a domain. */
  readonly peerJournal?: ((domain: string) => string | undefined) | undefined
  /** The copies that this instance holds. */
  readonly auditCopies: () => Promise<Copies>
  readonly decodeRecord: DecodeRecord
  readonly metrics: { readonly contentType: string; metrics(): Promise<string> }
  /** Searches at work at the same time. */
  readonly searches: Gate
  /** Aborted when the service begins to stop. */
  readonly stopping: AbortSignal
}
