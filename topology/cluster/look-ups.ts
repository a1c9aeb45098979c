import type { Answered } from './answer-call.js'
import { PeerError } from './errors.js'
import type { QueryAnswer, QueryCall } from './instance-call.js'
import type { Peer, PeerAnswer, Peers } from './peers.js'

interface Waiting {
  readonly call: QueryCall
  readonly resolve: (answer: PeerAnswer<QueryAnswer>) => void
  readonly reject: (error: unknown) => void
}

/** Look-ups of one call; what is more goes in the next. */
const MAX_LOOK_UPS = 100

/**
 * Look-ups of one turn of the event loop share a call to the instance that they are for: a call costs more than what it asks.
 * So only quick questions, which wait for nothing, may come here.
 */
export class LookUps {
  readonly #peers: Peers
  readonly #timeoutMs: number
  #waiting = new Map<string, { readonly peer: Peer; readonly lookUps: Waiting[] }>()

  constructor(peers: Peers, timeoutMs: number) {
    this.#peers = peers
    this.#timeoutMs = timeoutMs
  }

  ask(peer: Peer, call: QueryCall): Promise<PeerAnswer<QueryAnswer>> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.size === 0) setImmediate(() => this.#send())
      const name = `${peer.url} ${peer.token}`
      const known = this.#waiting.get(name) ?? { peer, lookUps: [] }
      known.lookUps.push({ call, resolve, reject })
      this.#waiting.set(name, known)
    })
  }

  #send(): void {
    const waiting = [...this.#waiting.values()]
    this.#waiting = new Map()
    for (const { peer, lookUps } of waiting) {
      for (let at = 0; at < lookUps.length; at += MAX_LOOK_UPS) {
        const together = lookUps.slice(at, at + MAX_LOOK_UPS)
        this.#call(peer, together).catch((thrown: unknown) => {
          for (const { reject } of together) reject(thrown)
        })
      }
    }
  }

  async #call(peer: Peer, lookUps: readonly Waiting[]): Promise<void> {
    const calls = lookUps.map(({ call }) => call)
    const options = { timeoutMs: this.#timeoutMs }
    const answered = await this.#peers.call<readonly Answered<QueryAnswer>[]>(peer, 'lookUps', calls, options)
    for (const [i, { resolve }] of lookUps.entries()) resolve(answered.ok ? told(peer, answered.answer[i]) : answered)
  }
}

function told({ url }: Peer, answered: Answered<QueryAnswer> | undefined): PeerAnswer<QueryAnswer> {
  if (answered?.ok === true) return answered
  const reason = answered?.reason ?? 'it answers less than it was asked'
  return {
    ok: false,
    wasHeard: true,
    error: new PeerError('PEER_REFUSED', `${url} refuses: ${reason}`, { details: { url } }),
  }
}
