import { within } from '../../common/clock.js'
import type { Clock } from '../../common/clock.js'
import { ensureError } from '../../common/errors.js'
import type { Application } from '../../topology/application.js'
import type { TakenIn } from '../../topology/application-options.js'
import { LogError } from '../../topology/log/errors.js'
import { partitionOf } from '../../topology/partitioner.js'
import type { Streams } from '../../topology/streams.js'
import { SiteError } from './errors.js'
import { queryLoaded } from './loading-streams.js'
import type { LoadedCopy } from './loading-streams.js'

/** Longest time that what is being taken in is waited for before its application stops. */
const INGEST_MS = 2000

/** An application, and how the HTTP layer asks it. */
export interface Domains {
  readonly application: Application
  readonly streams: Streams
  readonly start: (takenIn?: TakenIn) => Promise<void>
}

/**
 * The domains of a site: an application that is started when the site becomes active and stopped when it is no longer. A new one
 * stands ready from then on: it takes events into its journals before it folds them, and answers that it folds none.
 */
export class DomainHost {
  readonly #newDomains: () => Domains
  readonly #clock: Clock
  #domains: Domains
  #starting: Promise<void> | undefined
  /** Applications told to stop that have not, or could not. */
  #unstopped = 0
  readonly #ingesting = new Set<Promise<unknown>>()

  constructor(newDomains: () => Domains, clock: Clock) {
    this.#clock = clock
    this.#newDomains = newDomains
    this.#domains = newDomains()
  }

  get application(): Application {
    return this.#domains.application
  }
  get streams(): Streams {
    return this.#domains.streams
  }
  /** Started, or about to be. */
  get isRunning(): boolean {
    return this.#starting !== undefined
  }
  /** Nothing of it runs any more. One that could not be stopped may still consume, for all that is known. */
  get isStopped(): boolean {
    return !this.isRunning && this.#unstopped === 0
  }
  get isReady(): boolean {
    return this.isRunning && this.application.readiness().ready
  }

  /** Resolves when it has joined, reading inputs on from `takenIn`; a second call waits for the first. After a failure it may be called again. */
  start(takenIn?: TakenIn): Promise<void> {
    const domains = this.#domains
    this.#starting ??= domains.start(takenIn).catch(async (thrown: unknown) => {
      // Stopped meanwhile, others stand in its place.
      if (domains === this.#domains) await this.stop()
      throw thrown
    })
    return this.#starting
  }

  /**
   * Consumes, produces and acts no more; what is folded is committed, and no event comes into the journals any more. Errors:
   * SITE_NOT_STOPPED when that is not certain.
   */
  async stop(): Promise<void> {
    const { application } = this.#domains
    this.#starting = undefined
    this.#domains = this.#newDomains()
    this.#unstopped++
    try {
      // What is under way is taken whole, where the log takes anything: one told that it was not would send it again.
      await within(this.#clock, INGEST_MS, Promise.allSettled(this.#ingesting))
      await application.stop()
    } catch (thrown) {
      const cause = ensureError(thrown)
      throw new SiteError('SITE_NOT_STOPPED', `the domains could not be stopped: ${cause.message}`, { cause })
    }
    await Promise.allSettled(this.#ingesting)
    this.#unstopped--
  }

  ingest(...asked: Parameters<Streams['ingest']>): ReturnType<Streams['ingest']> {
    const ingesting = this.streams.ingest(...asked)
    this.#ingesting.add(ingesting)
    const settled = (): void => void this.#ingesting.delete(ingesting)
    ingesting.then(settled, settled)
    return ingesting
  }
}

export interface HostStreamsOptions {
  readonly host: DomainHost
  readonly partitions: number
  /** Events are taken only then. */
  readonly takesEvents: () => boolean
  /** The partition as far as it is loaded, where that is what answers now. */
  readonly loaded: (domain: string, partition: number) => LoadedCopy | undefined
  readonly readiness: Streams['readiness']
}

/** The domains as the HTTP layer sees them, whichever application runs them now, or loads them. */
export function hostStreams({ host, partitions, takesEvents, loaded, readiness }: HostStreamsOptions): Streams {
  const now = (): Streams => host.streams
  const queryPartition: Streams['queryPartition'] = (domain, query, partition, args, demand) => {
    const copy = loaded(domain, partition)
    if (copy !== undefined) return queryLoaded(copy, query, args, demand)
    return now().queryPartition(domain, query, partition, args, demand)
  }
  return {
    get processors() {
      return now().processors
    },
    get log() {
      return now().log
    },
    journal: (domain) => now().journal(domain),
    query(domain, query, key, args, demand) {
      if (loaded(domain, 0) === undefined) return now().query(domain, query, key, args, demand)
      return queryPartition(domain, query, partitionOf(key, partitions), args, demand)
    },
    queryPartition,
    queryAll(domain, query, args, demand) {
      if (loaded(domain, 0) === undefined) return now().queryAll(domain, query, args, demand)
      const all = Array.from({ length: partitions }, (_, partition) => partition)
      return Promise.all(all.map((partition) => queryPartition(domain, query, partition, args, demand)))
    },
    async ingest(domain, events) {
      if (!takesEvents()) throw new LogError('LOG_UNAVAILABLE', 'this site is not the active one')
      return host.ingest(domain, events)
    },
    command: (...asked) => now().command(...asked),
    readiness,
    sources: () => now().sources(),
    restartSource: (...asked) => now().restartSource(...asked),
  }
}
