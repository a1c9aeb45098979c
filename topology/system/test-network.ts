import type { ManualClock } from '../../common/manual-clock.js'
import type { Random } from '../../common/random.js'
import { PeerError } from '../cluster/errors.js'
import type { PeerRequest, PeerTransport } from '../cluster/peers.js'
import type { TestProcess } from './test-process.js'

/** Answers a request as it came over the wire. */
export type Endpoint = (request: PeerRequest) => Promise<{ readonly status: number; readonly body: string }>

/** How a network treats what it is given; shares are of requests, from 0 to 1. */
export interface Weather {
  /** Requests, and answers, are up to so many ms on their way. */
  readonly delayMs: number
  /** Requests that never arrive: their caller waits in vain. */
  readonly lostRequests: number
  /** Answers that never arrive; half of their callers see the connection break off. */
  readonly lostAnswers: number
  /** Requests that come a second time, at some time within `delayMs` and a second. */
  readonly repeated: number
  /** No connection is taken. */
  readonly isCut: boolean
}

export const fairWeather: Weather = { delayMs: 0, lostRequests: 0, lostAnswers: 0, repeated: 0, isCut: false }

interface Server {
  readonly process: TestProcess
  readonly answer: Endpoint
}

/** HTTP between the processes of a cluster, without sockets: late, lost and doubled as its weather has it. */
export class TestNetwork {
  weather: Weather = fairWeather
  readonly #clock: ManualClock
  readonly #random: Random
  readonly #onActivity: () => void
  readonly #servers = new Map<string, Server>()

  constructor(clock: ManualClock, random: Random, onActivity: () => void) {
    this.#clock = clock
    this.#random = random
    this.#onActivity = onActivity
  }

  /** The process listens at this address, until it ends. */
  listen(url: string, process: TestProcess, answer: Endpoint): void {
    const server = { process, answer }
    this.#servers.set(url, server)
    process.onEnd(() => {
      if (this.#servers.get(url) === server) this.#servers.delete(url)
    })
  }

  /** The HTTP client of a process. */
  transport(caller: TestProcess): PeerTransport {
    return {
      post: (request) =>
        caller.running(
          () =>
            new Promise((resolve, reject) => {
              const { url, timeoutMs, signal } = request
              const late = new PeerError('PEER_TIMED_OUT', `${url} has not answered within ${timeoutMs} ms`)
              const cancel = caller.clock.setTimer(() => reject(late), timeoutMs)
              signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
              this.#carry(request).then(resolve, reject).finally(cancel)
            }),
        ),
    }
  }

  async #carry(request: PeerRequest): ReturnType<PeerTransport['post']> {
    const { url } = request
    const { lostRequests, lostAnswers, repeated, isCut } = this.weather
    if (isCut || !this.#servers.has(url)) throw new PeerError('PEER_UNREACHABLE', `${url} takes no connection`)
    if (this.#random() < repeated) void this.#comeAgain(request)
    await this.#delay()
    if (this.#random() < lostRequests) return new Promise(() => undefined)
    const answer = await this.#answered(request)
    await this.#delay()
    if (this.#random() >= lostAnswers) return answer
    if (this.#random() < 0.5) throw new PeerError('PEER_BROKEN_OFF', `${url} broke off`)
    return new Promise(() => undefined)
  }

  /** By whoever listens there by now. */
  #answered(request: PeerRequest): ReturnType<PeerTransport['post']> {
    const server = this.#servers.get(request.url)
    if (server === undefined) return Promise.reject(new PeerError('PEER_BROKEN_OFF', `${request.url} has ended`))
    this.#onActivity()
    return new Promise((resolve, reject) => {
      server.process.onEnd(() => reject(new PeerError('PEER_BROKEN_OFF', `${request.url} has ended`)))
      server.process.running(() => server.answer(request)).then(resolve, reject)
    })
  }

  async #comeAgain(request: PeerRequest): Promise<void> {
    await this.#pass(this.#random() * (this.weather.delayMs + 1000))
    await this.#answered(request).catch(() => undefined)
  }

  async #delay(): Promise<void> {
    const { delayMs } = this.weather
    if (delayMs > 0) await this.#pass(this.#random() * delayMs)
    this.#onActivity()
  }

  #pass(ms: number): Promise<void> {
    return new Promise((resolve) => this.#clock.setTimer(resolve, Math.ceil(ms)))
  }
}
