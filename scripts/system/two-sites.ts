import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'
import type { Settings } from '../../common/settings.js'
import { onKafka, temporaryFolder } from './fixtures.js'
import type { Level } from './http-client.js'
import { spawnPulsefold } from './real-process.js'
import type { RealProcess } from './real-process.js'
import { tcpProxy } from './tcp-proxy.js'
import type { TcpProxy } from './tcp-proxy.js'
import { until } from './until.js'

export type SiteName = 'primary' | 'secondary'
export const names = ['primary', 'secondary'] as const
export const DEVICES = 400
/** What the sites show each other. */
export const TOKEN = 'between us'
const BATCH = 50
const START_MS = 90_000
/** 1,000 events a second. */
const BATCH_EVERY_MS = 50

export interface SiteStatus {
  readonly active: SiteName
  readonly target?: SiteName
  readonly epoch: number
  readonly phase: string
  readonly kind: string
  readonly peer: { readonly healthy: boolean }
  readonly error?: string
  readonly lastSwitch?: {
    readonly untilTrafficMs: number
    readonly untilSteadyMs: number
    readonly lossWindowMs: number
  }
}

/** Settings of two sites; one broker stands for the clusters of both. */
export async function settingsOfSites(
  t: Test,
  brokers: readonly string[],
  sharesLog: boolean,
): Promise<(name: SiteName) => Partial<Settings>> {
  const [primary, secondary] = [await onKafka(t, brokers), await onKafka(t, brokers)]
  const { applicationId: primaryId } = primary
  const { applicationId: secondaryId } = secondary
  if (primaryId === undefined || secondaryId === undefined) throw new Error('no application')
  const shared = { siteSharesLog: true, applicationId: secondaryId }
  const values = {
    primary: { ...primary, siteSharesLog: sharesLog },
    secondary: sharesLog ? { ...primary, ...shared } : secondary,
  }
  return (name) => ({
    ...values[name],
    sitePeerApplicationId: name === 'primary' ? secondaryId : primaryId,
    siteCheckIntervalMs: 2000,
  })
}

/** Two complete sites as processes of their own, and a network between them that can be broken either way. */
export class TwoSites {
  readonly #t: Test
  readonly #folder: string
  readonly #values: (name: SiteName) => Partial<Settings>
  /** On the way to each site from the other: to its instances in turn. */
  readonly ways: Readonly<Record<SiteName, TcpProxy>>
  /** The instances of each that run. */
  readonly processes: Readonly<Record<SiteName, RealProcess[]>> = { primary: [], secondary: [] }

  private constructor(t: Test, values: (name: SiteName) => Partial<Settings>, ways: Record<SiteName, TcpProxy>) {
    this.#t = t
    this.#values = values
    this.ways = ways
    this.#folder = temporaryFolder(t)
  }

  /** Settings of both, or of each. */
  static async start(
    t: Test,
    given: Partial<Settings> | ((name: SiteName) => Partial<Settings>) = {},
  ): Promise<TwoSites> {
    const values = typeof given === 'function' ? given : () => given
    const sites = new TwoSites(t, values, { primary: await tcpProxy(t), secondary: await tcpProxy(t) })
    await Promise.all([sites.begin('primary'), sites.begin('secondary')])
    await until('the primary takes traffic', () => sites.healthIs('primary', 200), START_MS)
    await until('the secondary has its mirror', async () => (await sites.mirrorLagMs('secondary')) !== null, START_MS)
    // Until then it takes over from nobody.
    await until('it has seen the primary well', async () => (await sites.status('secondary')).peer.healthy, START_MS)
    return sites
  }

  /** Starts an instance on what an earlier one of this number has left; resolves when it is ready. */
  async begin(name: SiteName, number = 1): Promise<RealProcess> {
    const other = name === 'primary' ? 'secondary' : 'primary'
    const folder = join(this.#folder, `${name}-${number}`)
    mkdirSync(folder, { recursive: true })
    const process = spawnPulsefold(this.#t, folder, {
      values: {
        siteName: name,
        sitePeerUrl: this.ways[other].url,
        sitePeerToken: TOKEN,
        siteHealthIntervalMs: 200,
        siteCheckIntervalMs: 1000,
        ...this.#values(name),
      },
    })
    const port = Number(new URL(await process.ready).port)
    this.processes[name].push(process)
    const way = this.ways[name]
    way.targets = [...way.targets, port]
    void process.ended.then(() => {
      const all = this.processes[name]
      if (all.includes(process)) all.splice(all.indexOf(process), 1)
      way.targets = way.targets.filter((target) => target !== port)
    })
    return process
  }

  site(name: SiteName): RealProcess {
    const [process] = this.processes[name]
    if (process === undefined) throw new Error(`the ${name} site does not run`)
    return process
  }

  status(name: SiteName): Promise<SiteStatus> {
    return this.site(name).json<SiteStatus>('/site')
  }

  async mirrorLagMs(name: SiteName): Promise<number | null> {
    return (await this.site(name).json<{ mirrorLagMs: number | null }>('/site')).mirrorLagMs
  }

  /** Resolves when the secondary has what the primary had at the call. */
  async untilMirrored(): Promise<void> {
    const asked = performance.now()
    await until('the mirror has all of it', async () => {
      const lagMs = await this.mirrorLagMs('secondary')
      return lagMs !== null && lagMs < performance.now() - asked - 1000
    })
  }

  async health(name: SiteName): Promise<number> {
    return (await this.site(name).ask('/notification/healthCheck')).status
  }

  async healthIs(name: SiteName, wanted: number): Promise<boolean> {
    return (await this.health(name)) === wanted
  }

  act(act: 'failover' | 'failback' | 'abort', at: SiteName) {
    return this.site(at).ask(`/site/${act}`, { method: 'POST', body: { actor: 'test', reason: 'a test' } })
  }

  async said(act: 'failover' | 'failback', at: SiteName): Promise<string> {
    return (JSON.parse((await this.act(act, at)).text) as { status: string }).status
  }

  async untilSaid(act: 'failover' | 'failback', at: SiteName, word: string): Promise<void> {
    await until(`${act} says ${word}`, async () => (await this.said(act, at)) === word, 180_000)
  }

  async kill(name: SiteName, process = this.site(name)): Promise<void> {
    process.kill('SIGKILL')
    await process.ended
  }
}

export const devices = Array.from({ length: DEVICES }, (_, index) => `dev-${index}`)

/** Heartbeats at 1,000 a second to whichever site takes them, and what was acknowledged last of each device. */
export class Reporter {
  readonly #sites: TwoSites
  readonly #first: SiteName
  #isStopped = false
  #round = 0
  readonly last = new Map<string, { readonly level: Level; readonly time: string }>()
  refused = 0
  /** Batches taken. */
  get rounds(): number {
    return this.#round
  }
  readonly #done: Promise<void>

  constructor(sites: TwoSites, first: SiteName) {
    this.#sites = sites
    this.#first = first
    this.#done = this.#run()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#done
  }

  async #run(): Promise<void> {
    let at = this.#first
    while (!this.#isStopped) {
      const due = performance.now() + BATCH_EVERY_MS
      const level = Math.floor(this.#round / (DEVICES / BATCH)) % 2 === 0 ? 'NONE' : 'COMPLETE'
      const from = (this.#round * BATCH) % DEVICES
      const time = new Date(Date.now() - 1000).toISOString()
      const some = devices.slice(from, from + BATCH)
      try {
        await this.#sites.site(at).report(
          some.map((device) => [device, level] as const),
          time,
        )
        for (const device of some) this.last.set(device, { level, time })
        this.#round++
      } catch {
        this.refused++
        at = at === 'primary' ? 'secondary' : 'primary'
      }
      await pause(Math.max(0, due - performance.now()))
    }
  }

  /** Devices whose last acknowledged report is not what the site says. */
  async lost(at: SiteName): Promise<string[]> {
    const lost: string[] = []
    for (const [device, { level, time }] of this.last) {
      const path = `/ncmp/v1/ch/${device}?evidence=true`
      const { trustLevel, trustEvidence } = await this.#sites.site(at).json<{
        trustLevel: Level
        trustEvidence: { lastHeartbeat: string }
      }>(path)
      if (trustLevel !== level || trustEvidence.lastHeartbeat !== time)
        lost.push(`${device} ${trustLevel} not ${level}`)
    }
    return lost
  }
}

/** What both health addresses say, again and again. */
export class HealthLog {
  readonly seen: (readonly [primary: number, secondary: number])[] = []
  readonly answersMs: number[] = []
  #isStopped = false
  readonly #done: Promise<void>

  constructor(sites: TwoSites) {
    this.#done = this.#run(sites)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#done
  }

  async #run(sites: TwoSites): Promise<void> {
    while (!this.#isStopped) {
      const asked = performance.now()
      // One after the other: what is 500 must have been seen beside what is 200.
      const [secondary, primary] = [await sites.health('secondary'), await sites.health('primary')]
      this.answersMs.push((performance.now() - asked) / 2)
      this.seen.push([primary, secondary])
      await pause(10)
    }
  }
}
