import type { Clock } from '../../common/clock.js'
import { cut } from '../../common/errors.js'
import { PeerError } from './errors.js'
import { callPaths } from './instance-call.js'
import type { CallKind } from './instance-call.js'

/** Another instance, as the group tells of it. */
export interface Peer {
  /** Where it is reached. */
  readonly url: string
  /** What it takes calls with: told to the members of the group only, new at each of its starts. */
  readonly token: string
}

export interface PeerRequest {
  readonly url: string
  readonly path: string
  readonly token: string
  /** JSON. */
  readonly body: string
  readonly timeoutMs: number
  readonly maxAnswerBytes: number
  readonly signal?: AbortSignal
}

/**
 * The HTTP client. Rejects with PEER_UNREACHABLE when nothing was sent, PEER_BROKEN_OFF, PEER_TIMED_OUT,
 * PEER_ANSWER_TOO_LARGE, or the signal's reason.
 */
export interface PeerTransport {
  post(request: PeerRequest): Promise<{ readonly status: number; readonly body: string }>
}

/** The peer's answer; or why there is none, and whether the peer may have heard the call. */
export type PeerAnswer<Answer> =
  | { readonly ok: true; readonly answer: Answer }
  | { readonly ok: false; readonly wasHeard: boolean; readonly error: PeerError }

export interface PeersOptions {
  readonly transport: PeerTransport
  readonly clock: Clock
  /** A peer gave no answer, for the first time in a while. */
  readonly onError: (error: PeerError) => void
  /** Every call, by what became of it: `answered`, or an error's code. */
  readonly onCall?: (kind: CallKind, result: string, durationMs: number) => void
}

export interface CallOptions {
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

/** A peer that gave no answer is asked last for so long. */
const SUSPECT_MS = 1000
const MAX_ANSWER_BYTES = 64 * 1024 * 1024

/** Asks other instances, and remembers which of them gave no answer a moment ago. */
export class Peers {
  readonly #options: PeersOptions
  readonly #suspectUntil = new Map<string, number>()

  constructor(options: PeersOptions) {
    this.#options = options
  }

  /** It was not there a moment ago: better ask another first. */
  isSuspect({ url }: Peer): boolean {
    const until = this.#suspectUntil.get(url)
    if (until === undefined) return false
    if (this.#options.clock.monotonic() < until) return true
    this.#suspectUntil.delete(url)
    return false
  }

  /** One call, to this peer only. Rejects with the signal's reason; everything else that may happen is a result. */
  async call<Answer>(peer: Peer, kind: CallKind, call: object, options: CallOptions): Promise<PeerAnswer<Answer>> {
    const { onError, onCall, clock } = this.#options
    const started = clock.monotonic()
    try {
      const answer = (await this.#post(peer, kind, JSON.stringify(call), options)) as Answer
      this.#suspectUntil.delete(peer.url)
      onCall?.(kind, 'answered', clock.monotonic() - started)
      return { ok: true, answer }
    } catch (thrown) {
      if (!(thrown instanceof PeerError)) throw thrown
      onCall?.(kind, thrown.code, clock.monotonic() - started)
      if (!this.isSuspect(peer)) onError(thrown)
      this.#suspectUntil.set(peer.url, clock.monotonic() + SUSPECT_MS)
      return { ok: false, wasHeard: !unheard.has(thrown.code), error: thrown }
    }
  }

  /** A query that breaks off is asked once more: the peer may have closed a connection kept for the next call. */
  async #post(peer: Peer, kind: CallKind, body: string, options: CallOptions): Promise<unknown> {
    try {
      return await this.#postOnce(peer, kind, body, options)
    } catch (thrown) {
      const isWorthIt = kind !== 'command' && thrown instanceof PeerError && thrown.code === 'PEER_BROKEN_OFF'
      if (!isWorthIt) throw thrown
      return this.#postOnce(peer, kind, body, options)
    }
  }

  async #postOnce({ url, token }: Peer, kind: CallKind, body: string, options: CallOptions): Promise<unknown> {
    const request = { url, path: callPaths[kind], token, body, maxAnswerBytes: MAX_ANSWER_BYTES, ...options }
    const { status, body: text } = await this.#options.transport.post(request)
    const answer = parsed(text)
    if (status === 200 && answer !== undefined) return answer
    throw new PeerError('PEER_REFUSED', `${url} refuses with ${status}: ${refusalText(answer)}`, { details: { url } })
  }
}

/** Nothing came of the call. */
const unheard: ReadonlySet<string> = new Set(['PEER_UNREACHABLE', 'PEER_REFUSED'])

function parsed(text: string): object | undefined {
  try {
    const answer: unknown = JSON.parse(text)
    return typeof answer === 'object' && answer !== null ? answer : undefined
  } catch {
    return undefined
  }
}

function refusalText(answer: object | undefined): string {
  if (answer === undefined || !('message' in answer)) return 'it is no instance, or one of another version'
  return cut(answer.message, 200)
}
