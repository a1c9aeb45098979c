import { sleep, within } from '../../common/clock.js'
import type { Clock } from '../../common/clock.js'
import { ensureError } from '../../common/errors.js'
import type { SiteProgress, SiteView } from '../../api/site/site-control.js'
import type { SiteRecord, SwitchReport } from '../../processors/site/index.js'
import type { ReportedMove } from '../../processors/site/moves.js'
import type { PeerJournals } from '../../topology/preload/peer-journals.js'
import type { PartitionLoad } from '../../topology/preload/partition-load.js'
import { Preload } from '../../topology/preload/preload.js'
import type { PreloadOptions } from '../../topology/preload/preload.js'
import type { Consuming } from './consuming.js'
import type { PeerContact } from './peer-contact.js'

export interface SwitchRunOptions {
  readonly clock: Clock
  /** Of the register's owner. */
  readonly term: number
  /** The register as it stands. */
  readonly record: () => SiteRecord
  /** Reports a move; rejects when the register cannot be asked. False: it is another switch's turn by now. */
  readonly move: (move: ReportedMove, error: string, report: string) => Promise<boolean>
  readonly preload: (load: string) => PreloadOptions
  /** Frees the stores of the base. */
  readonly beforeLoad: () => Promise<void>
  readonly mirror: PeerJournals
  readonly domains: Pick<Consuming, 'start' | 'isReady'>
  /** Any instance could go on from here: what was loaded is in the changelogs. */
  readonly isSafe: (loads: readonly PartitionLoad[]) => Promise<boolean>
  /** Topics of inputs. */
  readonly inputs: readonly string[]
  readonly contact: Pick<PeerContact, 'exchange' | 'isSilent' | 'wasHeard'>
  /** Between two checks of the other site. */
  readonly checkIntervalMs: number
  /** Whoever was not heard for so long is not waited for. */
  readonly silenceMs: number
  /** There is a base to begin with. */
  readonly hasBase: () => boolean
  /** The components of this site are well enough for it to take over. */
  readonly isHealthy: () => boolean
  readonly preloadTimeoutMs: number
  readonly onError: (error: Error) => void
}

/** Of a pre-load that fails, after these times, each from a cleared cache. (two sites, decision 8) */
const RETRY_DELAYS_MS = [5_000, 15_000, 45_000]
const POLL_MS = 100
const PAUSE_MS = 1000

/**
 * The target's work from PRELOAD to STEADY. Where it goes on is read from the register at each step, so a run that was cut short
 * by a crash is taken up by the next. One at a time.
 */
export class SwitchRun {
  readonly #options: SwitchRunOptions
  readonly #epoch: number
  readonly #stop = new AbortController()
  #preload: Preload | undefined
  #ends: SiteView['ends'] | undefined
  /** When this site began to take traffic, where this run has seen it. */
  #trafficAt: number | undefined
  /** ms of the other site's work that may be missing; undefined: it has said where its journals end. */
  #lossWindowMs: number | undefined
  /** To load all would take too long, and nobody else is there. */
  #isWindowOnly = false
  readonly done: Promise<void>

  constructor(options: SwitchRunOptions) {
    this.#options = options
    this.#epoch = options.record().epoch
    this.done = this.#run()
  }

  get epoch(): number {
    return this.#epoch
  }
  get term(): number {
    return this.#options.term
  }
  /** What is being loaded. */
  get preload(): Preload | undefined {
    return this.#preload
  }

  /** Of what is being loaded; undefined: nothing is. */
  async progress(): Promise<SiteProgress | undefined> {
    const preload = this.#preload
    if (preload === undefined) return undefined
    const { entries, ...progress } = await preload.progress()
    return { ...progress, events: entries, knownFrom: preload.knownFrom }
  }

  #isStopped(): boolean {
    return this.#stop.signal.aborted
  }

  /** Ends it where it is; resolves when it has let go of the stores. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await this.done
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    const { record, onError, clock } = this.#options
    while (!this.#isStopped()) {
      const now = record()
      if (now.epoch !== this.#epoch) break
      try {
        if (now.phase === 'PRELOAD') await this.#load(now)
        else if (now.phase === 'SWITCH') await this.#fence()
        else if (now.phase === 'CATCHUP') await this.#catchUp(now)
        else break
      } catch (thrown) {
        if (this.#isStopped()) break
        onError(ensureError(thrown))
        await this.#close()
        await sleep(clock, PAUSE_MS, this.#stop.signal)
      }
    }
    await this.#close()
  }

  async #load(record: SiteRecord): Promise<void> {
    const { clock, onError, preloadTimeoutMs, hasBase } = this.#options
    const limit = new AbortController()
    const leftMs = record.switchedAt + preloadTimeoutMs - clock.now()
    // With the old site dead nobody else is there: then the window alone is loaded, and late is better than never.
    const isLimited = record.oldAlive || (!this.#isWindowOnly && !hasBase())
    const cancelLimit = isLimited ? clock.setTimer(() => limit.abort(), Math.max(0, leftMs)) : () => undefined
    const signal = AbortSignal.any([this.#stop.signal, limit.signal])
    try {
      const preload = await this.#open(record)
      await this.#untilComplete(preload, signal)
      await this.#untilHealthy(signal)
      await preload.announceTerms()
      await this.#move('loaded')
    } catch (thrown) {
      if (this.#isStopped()) return
      const isLate = limit.signal.aborted
      const { oldAlive } = this.#options.record()
      const late = `the pre-load took longer than ${preloadTimeoutMs} ms${oldAlive ? '' : ': the window alone is loaded'}`
      const error = isLate ? new Error(late) : ensureError(thrown)
      onError(error)
      await this.#close()
      this.#isWindowOnly ||= isLate && !oldAlive
      const delayMs = RETRY_DELAYS_MS[record.attempt - 1]
      if (oldAlive && (isLate || delayMs === undefined)) {
        await this.#move('failed', error.message)
      } else {
        await this.#move('retried', error.message)
        await sleep(clock, delayMs ?? Math.max(...RETRY_DELAYS_MS), signal)
      }
    } finally {
      cancelLimit()
    }
  }

  /** Until all is loaded that the old site had when the load began; what a dead one cannot be asked for is not waited for. */
  async #untilComplete(preload: Preload, signal: AbortSignal): Promise<void> {
    const { clock, mirror, record } = this.#options
    const begun = clock.monotonic()
    for (;;) {
      const isComplete = (mirror.completeAt ?? Number.NEGATIVE_INFINITY) >= begun
      await preload.load(signal, { isWhole: !record().oldAlive })
      if (isComplete || !record().oldAlive) return
      await pause(clock, signal)
    }
  }

  async #untilHealthy(signal: AbortSignal): Promise<void> {
    while (!this.#options.isHealthy()) await pause(this.#options.clock, signal)
  }

  /** The old site stops, and says where its journals end; or it is gone. */
  async #fence(): Promise<void> {
    const { clock, contact, mirror, record } = this.#options
    const begun = clock.monotonic()
    this.#trafficAt = record().since
    for (;;) {
      const view = await this.#hear()
      if (view?.accepted === true && !view.consumes) {
        this.#ends = view.ends
        break
      }
      if (!record().oldAlive || contact.isSilent(begun)) {
        this.#lossWindowMs = mirror.lagMs ?? 0
        break
      }
      await pause(clock, this.#stop.signal)
    }
    await this.#move('fenced')
  }

  /** What the old site says; undefined: it does not answer. One that is dead, as it seems, gets a moment only: nobody else works. */
  async #hear(): Promise<Awaited<ReturnType<PeerContact['exchange']>> | undefined> {
    const { clock, contact, record, checkIntervalMs } = this.#options
    const asked = contact.exchange().catch(() => undefined)
    const seemsDead = !record().oldAlive && !contact.wasHeard(checkIntervalMs)
    return seemsDead ? within(clock, PAUSE_MS, asked) : asked
  }

  async #catchUp(record: SiteRecord): Promise<void> {
    const { clock, mirror, domains, isSafe, inputs, silenceMs } = this.#options
    const { signal } = this.#stop
    const begun = clock.monotonic()
    const preload = await this.#open(record)
    this.#ends ??= (await this.#hear())?.ends
    // What a site that was taken for dead takes in behind this is read here as well, and counts once.
    const takenIn = await mirror.takenIn(inputs)
    for (;;) {
      const isComplete = this.#ends === undefined || mirror.reaches(this.#ends)
      const isLost = clock.monotonic() - Math.max(begun, mirror.pulledAt ?? begun) >= silenceMs
      await preload.load(signal, { isWhole: isComplete || isLost })
      if (isComplete) break
      if (isLost) {
        this.#lossWindowMs = mirror.lagMs ?? 0
        break
      }
      await pause(clock, signal)
    }
    const { entries, isDone, knownFrom, loads } = preload
    await preload.sendLost()
    this.#preload = undefined
    await preload.finish()
    await domains.start(isDone ? undefined : takenIn)
    while (!domains.isReady || !(await isSafe(loads))) await pause(clock, signal)
    await this.#move('caughtUp', '', JSON.stringify(this.#report(record, entries, knownFrom)))
  }

  #report(record: SiteRecord, eventsLoaded: number, knownFrom: number): SwitchReport {
    const { clock } = this.#options
    const { epoch, kind, target, active, switchedAt, since, oldAlive } = record
    return {
      epoch,
      kind,
      target: target ?? active,
      untilTrafficMs: oldAlive ? Math.max(0, (this.#trafficAt ?? since) - switchedAt) : 0,
      untilSteadyMs: Math.max(0, clock.now() - switchedAt),
      eventsLoaded,
      lossWindowMs: Math.round(this.#lossWindowMs ?? 0),
      knownFrom: knownFrom === 0 ? null : new Date(knownFrom).toISOString(),
    }
  }

  async #open({ epoch, attempt, windowFrom }: SiteRecord): Promise<Preload> {
    if (this.#preload === undefined) {
      await this.#options.beforeLoad()
      const options = this.#options.preload(`${epoch}-${attempt}`)
      this.#preload = await Preload.open({ ...options, ...(this.#isWindowOnly && { fromMs: windowFrom }) })
    }
    return this.#preload
  }

  /** Never rejects: a store that stays open is not opened again, and the switch says so. */
  async #close(): Promise<void> {
    const preload = this.#preload
    this.#preload = undefined
    await preload?.close().catch((thrown: unknown) => this.#options.onError(ensureError(thrown)))
  }

  async #move(move: ReportedMove, error = '', report = ''): Promise<void> {
    const isDone = await this.#options.move(move, error, report)
    if (!isDone) this.#stop.abort()
  }
}

async function pause(clock: Clock, signal: AbortSignal): Promise<void> {
  await sleep(clock, POLL_MS, signal)
  signal.throwIfAborted()
}
