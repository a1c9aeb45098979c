import { manualClock } from '../../common/manual-clock.js'
import type { ManualClock } from '../../common/manual-clock.js'
import { countingProcessor } from '../counting-processor.js'
import type { Log } from '../log/log.js'
import type { QueryFailure, QueryResult } from '../streams.js'
import { answerCommandCall, answerLookUps, answerQueryCall } from './answer-call.js'
import type { Answered } from './answer-call.js'
import { CALL_MS } from './ask-partition.js'
import type { Instances } from './ask-partition.js'
import type { Holders } from './directory.js'
import { PeerError } from './errors.js'
import { callPaths } from './instance-call.js'
import type { LocalCommandResult } from './instance-call.js'
import type { LocalStreams } from './local-streams.js'
import { LookUps } from './look-ups.js'
import { Peers } from './peers.js'
import type { PeerRequest } from './peers.js'

export const JOURNAL = 'test-counting-journal'

/** What an instance says of its only partition; a function is asked each time. */
export type Says = QueryFailure | { readonly role: 'active' | 'standby'; readonly stalenessMs?: number }
export type SaysOfCommand = LocalCommandResult | 'never' | (() => LocalCommandResult)

/** An instance as others see it, with what is said there. */
export interface FakeInstance {
  says: Says
  command: SaysOfCommand
  /** How it fails to answer. */
  fault: 'unreachable' | 'brokenOff' | 'hangs' | 'refuses' | null
  /** Calls that came to it over HTTP. */
  readonly calls: PeerRequest[]
  readonly local: LocalStreams
}

export const live: Says = { role: 'active' }
export const standby: Says = { role: 'standby', stalenessMs: 700 }

export function fakeInstance(says: Says = 'notOwned', command?: SaysOfCommand): FakeInstance {
  const notOwned: LocalCommandResult = { ok: false, reason: 'notOwned', message: 'not here', retryAfterMs: 1000 }
  const instance: FakeInstance = {
    ...{ says, fault: null, calls: [], command: command ?? notOwned },
    local: {
      processors: [countingProcessor],
      log: {} as Log,
      journal: () => ({ topic: JOURNAL, partitions: 3 }),
      ingest: () => Promise.resolve([]),
      readiness: () => ({ ready: true, reasons: [], restoring: [] }),
      sources: () => [],
      restartSource: () => Promise.resolve({ ok: false, reason: 'unknown' }),
      queryLocal: <Result>(
        ...[, , partition, args, , role]: Parameters<LocalStreams['queryLocal']>
      ): Promise<QueryResult<Result>> =>
        Promise.resolve(resultOf(instance.says, partition, args, role === 'active') as QueryResult<Result>),
      commandLocal: () =>
        instance.command === 'never'
          ? new Promise(() => undefined)
          : Promise.resolve(typeof instance.command === 'function' ? instance.command() : instance.command),
    },
  }
  return instance
}

function resultOf(says: Says, partition: number, args: unknown, activeOnly: boolean): QueryResult<unknown> {
  if (typeof says === 'string') return { ok: false, reason: says, message: says, retryAfterMs: 1000 }
  const { role, stalenessMs = 0 } = says
  if (activeOnly && role === 'standby') return { ok: false, reason: 'notOwned', message: role, retryAfterMs: 1000 }
  return { ok: true, result: args, role, stalenessMs, position: { topic: JOURNAL, partition, offset: 7 } }
}

export interface FakeCluster extends Instances {
  readonly clock: ManualClock
  readonly errors: PeerError[]
  /** What became of each call: `query answered`. */
  readonly results: string[]
  holders: Holders
}

/** The instance `self` among others, which are reached under their names. */
export function fakeCluster(self: FakeInstance, others: Readonly<Record<string, FakeInstance>>): FakeCluster {
  const clock = manualClock()
  const errors: PeerError[] = []
  const post = async (request: PeerRequest): Promise<{ readonly status: number; readonly body: string }> => {
    const { url, path, timeoutMs, body } = request
    const instance = others[url]
    if (instance === undefined) throw new PeerError('PEER_UNREACHABLE', url)
    instance.calls.push(request)
    switch (instance.fault) {
      case 'unreachable':
        throw new PeerError('PEER_UNREACHABLE', url)
      case 'brokenOff':
        throw new PeerError('PEER_BROKEN_OFF', url)
      case 'refuses':
        return { status: 409, body: JSON.stringify({ code: 'INSTANCE_INCOMPATIBLE', message: 'protocol 2 is spoken' }) }
      case 'hangs':
        return new Promise((_resolve, reject) => {
          clock.setTimer(() => reject(new PeerError('PEER_TIMED_OUT', url)), timeoutMs)
        })
      case null: {
        const answered = await answerOf(path)(instance.local, JSON.parse(body))
        return answered.ok
          ? { status: 200, body: JSON.stringify(answered.answer) }
          : { status: 409, body: JSON.stringify({ message: answered.reason }) }
      }
    }
  }
  const results: string[] = []
  const peers = new Peers({
    ...{ transport: { post }, clock },
    onError: (error) => errors.push(error),
    onCall: (kind, result) => results.push(`${kind} ${result}`),
  })
  const cluster: FakeCluster = {
    local: self.local,
    clock,
    errors,
    results,
    holders: { owner: undefined, standbys: [] },
    directory: { instances: [], holders: () => cluster.holders },
    peers,
    lookUps: new LookUps(peers, CALL_MS),
  }
  return cluster
}

function answerOf(path: string): (local: LocalStreams, call: unknown) => Promise<Answered<unknown>> {
  if (path === callPaths.lookUps) return answerLookUps
  return path === callPaths.query ? answerQueryCall : answerCommandCall
}

/** `self` stands for this instance. */
export function holders(owner: string | undefined, ...standbys: readonly string[]): Holders {
  const instance = (url: string): { url: string; token: string; isSelf: boolean } => ({
    ...{ url, token: `token of ${url}`, isSelf: url === 'self' },
  })
  return {
    owner: owner === undefined ? undefined : instance(owner),
    standbys: standbys.map((url, i) => ({ ...instance(url), lagRecords: i })),
  }
}
