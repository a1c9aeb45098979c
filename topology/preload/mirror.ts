import type { Clock } from '../../common/clock.js'
import type { TakenIn } from '../application-options.js'
import { EngineError } from '../errors.js'
import type { Log, LogRecord, TopicPartition } from '../log/log.js'
import { names } from '../names.js'
import { mirrorIn, mirrorTopic, ORIGIN, originOf } from './journal-source.js'
import type { JournalSource } from './journal-source.js'
import type { PeerJournals } from './peer-journals.js'

/** What a site asks the other for: records of a journal from an offset on. */
export interface HistoryWanted extends TopicPartition {
  readonly offset: number
}

/** What the other site has there, as `RecordBatch`; with its incarnation, and the first offset that it still has. */
export interface HistoryPart extends TopicPartition {
  readonly incarnation: string
  readonly start: number
  readonly end: number
  readonly next: number
  readonly records: readonly LogRecord[]
}

/** Asks the other site; resolves when there is something, or with empty parts after a while. */
export type ReadPeer = (wanted: readonly HistoryWanted[], signal: AbortSignal) => Promise<readonly HistoryPart[]>

export interface MirrorOptions {
  readonly log: Log
  readonly clock: Clock
  /** The other site, and its application. */
  readonly site: string
  readonly applicationId: string
  readonly domains: readonly string[]
  readonly partitions: number
  readonly retentionMs: number
  readonly readPeer: ReadPeer
  readonly onError: (error: Error) => void
}

interface Place extends TopicPartition {
  /** The next offset to ask for; the incarnation is not known before the first record. */
  offset: number
  incarnation: string | undefined
  /** Where the journal ended when it was read last. */
  end: number
}

/**
 * The other site's journals copied into this site's log, record by record and with their stamps, so that they can be loaded
 * when that site is gone. What was copied twice after a crash is folded once.
 */
export class Mirror implements PeerJournals {
  readonly #options: MirrorOptions
  #places: readonly Place[] = []
  /** Monotonic time at which all that the other site had was known to be here. */
  #completeAt: number | undefined
  #pulledAt: number | undefined

  constructor(options: MirrorOptions) {
    this.#options = options
  }

  /** ms since the mirror was last known to be complete; undefined: it never was in this life. */
  get lagMs(): number | undefined {
    return this.#completeAt === undefined ? undefined : this.#options.clock.monotonic() - this.#completeAt
  }

  /** Monotonic time at which the other site was asked last for what then came whole. */
  get completeAt(): number | undefined {
    return this.#completeAt
  }

  get pulledAt(): number | undefined {
    return this.#pulledAt
  }

  /** Makes the topics that are missing, and finds out how far they are filled; again where another has filled them meanwhile. */
  async open(): Promise<void> {
    const { log, site, applicationId, domains, partitions, retentionMs } = this.#options
    const journals = domains.map((domain) => names.journal(applicationId, domain))
    await log.createTopics(journals.map((journal) => mirrorTopic(site, journal, partitions, retentionMs)))
    const places: Place[] = []
    for (const topic of journals) {
      for (let partition = 0; partition < partitions; partition++) {
        const mirror = { topic: names.mirror(site, topic), partition }
        const { start, end } = await log.offsets(mirror)
        const last = end > start ? (await log.read(mirror, end - 1, { maxRecords: 1 })).records.at(-1) : undefined
        const origin = last === undefined ? undefined : originOf(last)
        const offset = origin === undefined ? 0 : origin.offset + 1
        places.push({ topic, partition, offset, incarnation: origin?.incarnation, end: 0 })
      }
    }
    this.#places = places
    this.#completeAt = undefined
  }

  /** Copies what the other site has by now; resolves when that is on disk. Rejects with what `readPeer` or the log reject with. */
  async pull(signal: AbortSignal): Promise<void> {
    const { readPeer, clock } = this.#options
    const asked = clock.monotonic()
    const wanted = this.#places.map(({ topic, partition, offset }) => ({ topic, partition, offset }))
    const parts = await readPeer(wanted, signal)
    for (const part of parts) await this.#take(part)
    this.#pulledAt = clock.monotonic()
    if (parts.length === wanted.length && this.#places.every(({ offset, end }) => offset >= end))
      this.#completeAt = asked
  }

  /** All up to these ends is here. */
  reaches(ends: readonly (TopicPartition & { readonly end: number })[]): boolean {
    return ends.every(({ topic, partition, end }) => {
      const place = this.#places.find((candidate) => candidate.topic === topic && candidate.partition === partition)
      return place === undefined || place.offset >= end
    })
  }

  source(domain: string, partition: number): JournalSource {
    const { log, site, applicationId } = this.#options
    const journal = names.journal(applicationId, domain)
    return mirrorIn(log, { topic: names.mirror(site, journal), partition }, names.siteJournal(site, journal))
  }

  /** Each site reads topics of its own. */
  takenIn(): Promise<TakenIn> {
    return Promise.resolve(new Map())
  }

  async #take(part: HistoryPart): Promise<void> {
    const { log, site, onError } = this.#options
    const place = this.#places.find(({ topic, partition }) => topic === part.topic && partition === part.partition)
    if (place === undefined) return
    const where = `${part.topic}/${part.partition}`
    if ((place.incarnation ?? part.incarnation) !== part.incarnation || place.offset > part.end) {
      throw new EngineError('MIRROR_FOREIGN', `the journal ${where} of the ${site} site is another one than before`)
    }
    if (place.offset < part.start && place.offset > 0) {
      onError(new EngineError('MIRROR_GAP', `records ${place.offset} to ${part.start} of ${where} were not mirrored`))
    }
    const records = part.records.filter(({ offset }) => offset >= place.offset)
    if (records.length > 0) {
      const copies = records.map(({ offset, timestamp, key, value, headers }) => {
        const origin = [ORIGIN, Buffer.from(`${offset}@${part.incarnation}`)] as const
        return { key, value, timestamp, headers: [...headers, origin] }
      })
      await log.append(names.mirror(site, part.topic), part.partition, copies)
      place.incarnation = part.incarnation
    }
    place.offset = Math.max(place.offset, part.next)
    place.end = part.end
  }
}
