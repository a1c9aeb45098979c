import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'
import { platformsOf } from './outcomes.js'
import type { SiteName, TwoSites } from './two-sites.js'
import { until } from './until.js'

const PLATFORMS = Array.from({ length: 12 }, (_, index) => `platform-${index}`)
const BATCH_EVERY_MS = 50
/** 1,000 events a second. */
const BATCH = 50
/** All calls of a test are in one window. */
const INTERVAL_MS = 3_600_000

/** An outcome that comes again is counted again: only by its place may it be known, not by its id. */
export const countingAll = { outcomeIdLimit: 1 }

/**
 * Call outcomes at 1,000 a second to whichever instances take them, and how many of each platform were acknowledged: the window of
 * its address must count as many, neither fewer nor more.
 */
export class OutcomeSender {
  readonly #sites: TwoSites
  readonly #taken = new Map<string, number>(PLATFORMS.map((platform) => [platform, 0]))
  /** Sent to one that was cut off before it answered: counted or not. */
  readonly #open = new Map<string, number>(PLATFORMS.map((platform) => [platform, 0]))
  #at: SiteName = 'primary'
  #isStopped = false
  #isHeld = false
  #sent = 0
  #refused = 0
  rounds = 0
  #done: Promise<void> = Promise.resolve()

  constructor(sites: TwoSites) {
    this.#sites = sites
  }

  async begin(): Promise<void> {
    const platforms = platformsOf(this.#sites.site('primary'))
    for (const platform of PLATFORMS) await platforms.create(platform, ['a1'], { detectInterval: INTERVAL_MS })
    this.#done = this.#run()
  }

  async end(): Promise<void> {
    this.#isStopped = true
    await this.#done
  }

  async untilTaken(rounds: number): Promise<void> {
    const before = this.rounds
    await until('it goes on', () => this.rounds >= before + rounds, 180_000)
  }

  /** Holds the sending until each instance of the active site counts what was acknowledged. */
  async check(t: Test, site: SiteName, when: string): Promise<void> {
    this.#isHeld = true
    await pause(2 * BATCH_EVERY_MS)
    for (const process of this.#sites.processes[site]) {
      const wrong = async (): Promise<string[]> => {
        const { addresses } = platformsOf(process)
        const all = PLATFORMS.map(async (platform) => {
          const calls = (await addresses(platform).catch(() => []))[0]?.window.calls ?? -1
          const [taken, open] = [this.#taken.get(platform) ?? 0, this.#open.get(platform) ?? 0]
          return calls >= taken && calls <= taken + open
            ? []
            : [`${platform}: ${calls} counted, ${taken} taken, ${open} open`]
        })
        return (await Promise.all(all)).flat()
      }
      await until('all is counted', async () => (await wrong()).length === 0, 60_000).catch(() => undefined)
      t.same(await wrong(), [], `each is counted once ${when}`)
    }
    this.#isHeld = false
  }

  told(): string {
    const sum = (of: ReadonlyMap<string, number>): number => [...of.values()].reduce((all, some) => all + some, 0)
    return `${sum(this.#taken)} of ${this.#sent} outcomes were taken, ${sum(this.#open)} open, ${this.#refused} batches refused`
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const due = performance.now() + BATCH_EVERY_MS
      if (!this.#isHeld) await this.#send()
      await pause(Math.max(0, due - performance.now()))
    }
  }

  async #send(): Promise<void> {
    const all = this.#sites.processes[this.#at]
    const process = all[this.rounds % Math.max(1, all.length)]
    const some = Array.from(
      { length: BATCH },
      (_, index) => PLATFORMS[(this.#sent + index) % PLATFORMS.length] as string,
    )
    const answer = await process
      ?.ask('/events', { body: some.map((platform) => this.#outcome(platform)), headers })
      .catch(() => 'cut off' as const)
    if (typeof answer === 'object' && answer.status === 202) {
      for (const platform of some) this.#taken.set(platform, (this.#taken.get(platform) ?? 0) + 1)
      this.rounds++
      return
    }
    if (answer === 'cut off') for (const platform of some) this.#open.set(platform, (this.#open.get(platform) ?? 0) + 1)
    this.#refused++
    this.#at = this.#at === 'primary' ? 'secondary' : 'primary'
  }

  #outcome(platform: string): object {
    const id = `call-${++this.#sent}`
    const data = { platform, address: 'a1', result: 'success', callId: id, attemptId: null }
    return {
      specversion: '1.0',
      id,
      source: 'sis',
      type: 'com.opencloud.sis.call-outcome',
      datacontenttype: 'application/json',
      data,
    }
  }
}

const headers = { 'content-type': 'application/cloudevents-batch+json' }
