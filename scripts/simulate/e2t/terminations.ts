import { randomUUID } from 'node:crypto'
import { Pool } from 'undici'
import { sleep } from '../../../common/clock.js'
import type { Clock } from '../../../common/clock.js'
import { followFeed } from './event-feed.js'
import type { FeedRecord } from './event-feed.js'

/** `stalling`: it lives and does not answer for a while; `dead`: it never will. */
export type TerminationState = 'alive' | 'stalling' | 'dead'

/** One E2 termination, with the RANs that hold a connection to it. */
export interface Termination {
  readonly address: string
  readonly podName: string
  readonly ranNames: readonly string[]
  state: TerminationState
  /** Monotonic, ms: when it sent its last answer. */
  answeredAt: number
  /** A request has reached it since its start. */
  isAsked: boolean
}

export interface TerminationsOptions {
  readonly url: string
  readonly ric: string
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly terminations: readonly Termination[]
}

/** The requirement's E2 termination sends its init again when no request follows in this time. */
const INIT_AGAIN_MS = 300

/** Plays the E2 terminations of a RIC against a running service: requests come by a feed, all else goes by POST /events. */
export class Terminations {
  readonly #options: TerminationsOptions
  readonly #pool: Pool
  readonly #feed: Promise<void>
  /** Inits that were sent, repeats included. */
  inits = 0

  constructor(options: TerminationsOptions) {
    this.#options = options
    this.#pool = new Pool(options.url, { connections: 8 })
    const path = `/e2t/keep-alive-requests?ric=${encodeURIComponent(options.ric)}`
    this.#feed = followFeed({ ...options, path }, (record) => this.#asked(record))
  }

  /** Sends inits until a request comes; resolves then, or when the termination is no longer alive. */
  async start(termination: Termination): Promise<void> {
    const { clock, signal } = this.#options
    termination.isAsked = false
    const isWaiting = (): boolean => !termination.isAsked && termination.state === 'alive'
    while (isWaiting() && !signal.aborted) {
      this.inits++
      const data = { address: termination.address, fqdn: termination.address, pod_name: termination.podName }
      await this.#send([event('E2_TERM_INIT', termination.address, data)])
      await sleep(clock, INIT_AGAIN_MS, signal)
    }
  }

  /** Its RANs ask for their setup. */
  async setUp({ address, ranNames }: Termination): Promise<void> {
    const ranFunctions = [1, 2, 3].map((ranFunctionId) => ({ ranFunctionId, ranFunctionRevision: 1 }))
    const setups = ranNames.map((ranName, i) => {
      const globalNbId = { plmnId: '02F829', nbId: String(i).padStart(28, '0') }
      const data = { e2tAddress: address, ranName, globalNbId, nodeType: 'GNB', ranFunctions, transactionId: String(i) }
      return event('E2_SETUP_REQ', address, data)
    })
    for (let from = 0; from < setups.length; from += 500) await this.#send(setups.slice(from, from + 500))
  }

  async loseConnection({ address }: Termination, ranName: string): Promise<void> {
    await this.#send([event('SCTP_CONNECTION_FAILURE', address, {}, ranName)])
  }

  async close(): Promise<void> {
    await this.#feed
    await this.#pool.destroy()
  }

  #asked({ headers }: FeedRecord): void {
    const { terminations, clock } = this.#options
    const only = headers['ce_e2t']
    const answering = terminations.filter(({ address, state }) => state === 'alive' && (only ?? address) === address)
    for (const termination of answering) termination.isAsked = true
    if (answering.length === 0) return
    const answers = answering.map(({ address }) => event('E2_TERM_KEEP_ALIVE_RESP', address, { address }))
    for (const termination of answering) termination.answeredAt = clock.monotonic()
    void this.#send(answers)
  }

  async #send(events: readonly object[]): Promise<void> {
    const { clock, signal, ric } = this.#options
    const body = JSON.stringify(events.map((one) => ({ ...one, ric })))
    while (!signal.aborted) {
      try {
        const headers = { 'content-type': 'application/cloudevents-batch+json' }
        const answer = await this.#pool.request({ method: 'POST', path: '/events', headers, body, signal })
        const text = await answer.body.text()
        if (answer.statusCode === 202) return
        if (answer.statusCode !== 503)
          throw new Error(`POST /events answered ${answer.statusCode}: ${text.slice(0, 300)}`)
      } catch (error) {
        if (error instanceof Error && error.message.startsWith('POST /events')) throw error
      }
      await sleep(clock, 100, signal)
    }
  }
}

function event(name: string, address: string, data: object, meid?: string): object {
  return {
    specversion: '1.0',
    id: randomUUID(),
    source: address,
    type: `org.oran.e2.${name}`,
    ...(meid !== undefined && { meid }),
    data,
  }
}
