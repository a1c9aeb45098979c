import { sleep } from '../../common/clock.js'
import type { Clock } from '../../common/clock.js'
import type { DrillReport, DrillResult, TaskDigest } from '../../api/site/site-control.js'
import { names } from '../../topology/names.js'
import { upTo } from '../../topology/preload/journal-source.js'
import type { PeerJournals } from '../../topology/preload/peer-journals.js'
import { Preload } from '../../topology/preload/preload.js'
import type { PreloadOptions } from '../../topology/preload/preload.js'
import type { BaseKeeper } from './base-keeper.js'
import type { Peer } from './peer.js'

export interface DrillsOptions {
  readonly clock: Clock
  readonly peer: Pick<Peer, 'digests'>
  readonly mirror: PeerJournals
  readonly peerApplicationId: string
  readonly base: Pick<BaseKeeper, 'hold'>
  readonly preload: (load: string) => PreloadOptions
  /** A mirror that was not brought up for so long is not waited for. */
  readonly silenceMs: number
}

const LOAD = 'drill'
const POLL_MS = 100

/**
 * What a switch to this site would take, without one: loads stores beside the live ones up to what the active site has sealed
 * last, compares the digests without positions, and throws the stores away. One at a time.
 */
export class Drills {
  readonly #options: DrillsOptions
  #running: { readonly stop: AbortController; readonly done: Promise<DrillReport | undefined> } | undefined

  constructor(options: DrillsOptions) {
    this.#options = options
  }

  /** Rejects with the signal's reason, and with what log or stores reject with. */
  async run(signal: AbortSignal): Promise<DrillResult> {
    const release = await this.#options.base.hold()
    const stop = new AbortController()
    const done = this.#drill(AbortSignal.any([signal, stop.signal]))
    this.#running = { stop, done }
    try {
      const report = await done
      if (report !== undefined) return { ok: true, report }
      return {
        ok: false,
        reason: 'unreachable',
        message: 'the other site does not answer, or does not show its journals',
      }
    } catch (thrown) {
      if (!stop.signal.aborted) throw thrown
      return { ok: false, reason: 'conflict', message: 'a switch has begun' }
    } finally {
      this.#running = undefined
      release()
    }
  }

  /** A drill gives way to a switch, which reads the same base; resolves when its stores are closed. */
  async end(): Promise<void> {
    this.#running?.stop.abort()
    await this.#running?.done.catch(() => undefined)
  }

  /** Undefined: there is nothing to compare with. */
  async #drill(signal: AbortSignal): Promise<DrillReport | undefined> {
    const { clock, peer, mirror, peerApplicationId, silenceMs, preload: optionsOf } = this.#options
    const begun = clock.monotonic()
    const sealed = await peer.digests().catch(() => undefined)
    if (sealed === undefined) return undefined
    const options = optionsOf(LOAD)
    const ends = sealed.map(({ domain, partition, offset }) => {
      return { topic: names.journal(peerApplicationId, domain), partition, end: offset }
    })
    while (!mirror.reaches(ends)) {
      await sleep(clock, POLL_MS, signal)
      signal.throwIfAborted()
      if (clock.monotonic() - Math.max(begun, mirror.pulledAt ?? begun) >= silenceMs) return undefined
    }
    const mirrorLagMs = mirror.lagMs
    const startedAt = clock.monotonic()
    const preload = await Preload.open({
      ...options,
      storeName: (domain, partition) => `${LOAD}-${names.taskStore(domain, partition)}`,
      peerJournal(domain, partition) {
        const to = sealed.find((task) => task.domain === domain && task.partition === partition)?.offset ?? 0
        return upTo(options.peerJournal(domain, partition), to)
      },
    })
    try {
      await preload.load(signal)
      const ms = Math.max(1, clock.monotonic() - startedAt)
      const different = sealed.filter((task) => digestOf(preload, task) !== task.digest)
      return {
        equal: different.length === 0,
        different: different.map(({ domain, partition }) => `${domain}/${partition}`),
        events: preload.entries,
        ms: Math.round(ms),
        eventsPerSecond: Math.round((preload.entries * 1000) / ms),
        mirrorLagMs: mirrorLagMs === undefined ? null : Math.round(mirrorLagMs),
      }
    } finally {
      await preload.discard()
    }
  }
}

function digestOf(preload: Preload, { domain, partition }: TaskDigest): string | undefined {
  const load = preload.loads.find((one) => one.processor.name === domain && one.partition === partition)
  return load?.digest.withoutPositions.toHex()
}
