import { keepAliveProfiles } from '../../common/keep-alive-times.js'
import type { KeepAliveEvent, NodeType } from '../../schemas/keep-alive/journal-events.js'
import { messageType, messageTypes } from '../../schemas/keep-alive/message-types.js'
import type { MessageName } from '../../schemas/keep-alive/message-types.js'
import type { NewRecord } from '../../topology/log/log.js'
import type { EffectRequest } from '../../topology/processor.js'
import { FoldKit } from '../fold-kit.js'
import type { RoutingManagerRequest } from './effect-requests.js'
import { keepAlive } from './keep-alive.js'
import { keepAliveQueries } from './queries.js'
import type { KeepAliveSettings } from './settings.js'
import { e2tInstances, keyOf, rans, rics } from './tables.js'
import type { E2tInstanceRow, RanRow, RicRow } from './tables.js'
import type { OwedCallView, SelectionView } from './views.js'

export const RIC = 'AACCE'
export const E2T = '10.0.0.1:38000'
export const E2T_2 = '10.0.0.2:38000'
export const RAN = 'gnb_208_092_303030'

export const testSettings: KeepAliveSettings = {
  ...keepAliveProfiles.default,
  bigRedButtonTimeoutMs: 5000,
  onRoutingManagerFailure: 'keep',
  askForInit: false,
  kubernetesNamespace: '',
  globalRicMcc: '310',
  globalRicMnc: '411',
}

/** What an E2 termination sends, as it stands in its topic. */
export function messageRecord(id: string, name: MessageName, source: string, data: unknown): NewRecord {
  const headers = Object.entries({
    ce_specversion: '1.0',
    ce_id: id,
    ce_source: source,
    ce_type: messageType(name),
    ce_mtype: String(messageTypes[name]),
  }).map(([header, value]) => [header, Buffer.from(value)] as const)
  return { key: null, value: Buffer.from(JSON.stringify(data)), headers }
}

/** The Routing Manager in a kit: takes what is owed, refuses it, or is not there. */
export type RoutingManagerState = 'up' | 'refusing' | 'away'

/** The keep-alive domain in a fold kit, with what E2 terminations and operators do in their own words. */
export class KeepAliveKit extends FoldKit<KeepAliveEvent, KeepAliveSettings> {
  routingManager: RoutingManagerState = 'up'
  /** Calls that the Routing Manager has got: "POST e2t {…}". */
  readonly calls: string[] = []
  /** Instances that answer each request, this long after it. */
  readonly answering = new Map<string, number>()
  #messages = 0
  #read = 0

  constructor(settings: Partial<KeepAliveSettings> = {}) {
    const used = { ...testSettings, ...settings }
    // One partition, and a time that is no multiple of any delay.
    super(keepAlive({ settings: used, messagesTopic: 'e2t-messages', ricId: RIC, effectors: [] }), {
      partitions: 1,
      time: 1_800_000_000_123,
    })
  }

  /** An init, and what the Routing Manager says to it. */
  init(
    address = E2T,
    more: { readonly podName?: string; readonly eventId?: string; readonly ric?: string } = {},
  ): void {
    const { podName = `pod-${address}`, eventId = `init-${++this.#messages}`, ric = RIC } = more
    this.when(ric, { type: 'E2tInitReported', data: { ric, address, podName, source: address, eventId } })
    this.callRoutingManager()
  }

  answer(address = E2T, ric = RIC): void {
    this.when(ric, { type: 'KeepAliveAnswered', data: { ric, address } })
  }

  setUp(
    ranName = RAN,
    address = E2T,
    more: { readonly nodeType?: NodeType; readonly transactionId?: string } = {},
  ): void {
    const { nodeType = 'GNB', transactionId = '1' } = more
    const ranFunctions = [1, 2, 3].map((ranFunctionId) => ({
      ranFunctionId,
      ranFunctionRevision: 1,
      ranFunctionDefinition: '',
      ranFunctionOid: '',
    }))
    const ids = { plmnId: '02F829', nbId: '001100000011000000110000' }
    const data = { ric: RIC, address, ranName, ...ids, nodeType, ranFunctions, transactionId }
    this.when(RIC, { type: 'E2SetupRequested', data })
    this.callRoutingManager()
  }

  lose(ranName = RAN, eventId = `lost-${++this.#messages}`): void {
    this.when(RIC, { type: 'RanConnectionLost', data: { ric: RIC, ranName, source: E2T, eventId } })
    this.callRoutingManager()
  }

  pressRedButton(): unknown {
    const answer = this.when(RIC, { type: 'RedButtonPressed', data: { ric: RIC } })
    this.callRoutingManager()
    return answer
  }

  /** Lets time pass; instances that answer do so. */
  run(ms: number, stepMs = 50): void {
    for (let passed = 0; passed < ms; passed += stepMs) {
      const due: { readonly at: number; readonly address: string }[] = []
      for (const output of this.outputs.slice(this.#read)) {
        if (output.topic !== 'e2t-keep-alive-requests') continue
        const only = output.headers.find(([name]) => name === 'ce_e2t')?.[1]
        for (const [address, latencyMs] of this.answering) {
          if (only === undefined || only === address) due.push({ at: this.time + latencyMs, address })
        }
      }
      this.#read = this.outputs.length
      this.#pending.push(...due)
      this.advance(stepMs)
      this.callRoutingManager()
      for (const { address } of this.#pending.filter(({ at }) => at <= this.time)) this.answer(address)
      this.#pending.splice(0, this.#pending.length, ...this.#pending.filter(({ at }) => at > this.time))
    }
  }

  readonly #pending: { readonly at: number; readonly address: string }[] = []

  /** The Routing Manager does, or refuses, what is owed to it. */
  callRoutingManager(): void {
    if (this.routingManager === 'away') return
    const succeeded = this.routingManager === 'up'
    for (const request of this.owed(RIC).filter(isCall)) this.endCall(request, succeeded)
  }

  endCall(request: EffectRequest, succeeded: boolean): void {
    const { ric, call, method, path, body } = request.payload as RoutingManagerRequest
    if (succeeded) this.calls.push(`${method} ${path} ${JSON.stringify(body)}`)
    const data = { ric, call, effectId: request.id, succeeded, outcome: succeeded ? 'answered 201' : 'answered 400' }
    this.settle(request.id, { type: 'RoutingManagerCalled', data })
  }

  settle(effectId: string, event: KeepAliveEvent): void {
    this.performOne(RIC, effectId, event)
  }

  ric(ric = RIC): RicRow | undefined {
    return this.row(rics, ric, ric)
  }

  instance(address = E2T): E2tInstanceRow | undefined {
    return this.row(e2tInstances, RIC, keyOf(RIC, address))
  }

  ran(ranName = RAN): RanRow | undefined {
    return this.row(rans, RIC, keyOf(RIC, ranName))
  }

  selection(): Promise<SelectionView | null> {
    return this.query(keepAliveQueries.selection, RIC, { ric: RIC })
  }

  async list(): Promise<readonly string[]> {
    const all = await this.query(keepAliveQueries.e2tInstances, RIC, { ric: RIC })
    return all.map(({ e2tAddress, ranNames }) => `${e2tAddress} ${ranNames.join()}`)
  }

  owedCalls(): Promise<readonly OwedCallView[]> {
    return this.query(keepAliveQueries.owedCalls, RIC, {})
  }

  /** What went to a topic since it was asked for last: its text, or its type where it has none; with the receiver. */
  sent(topic: string): string[] {
    const from = this.#taken.get(topic) ?? 0
    const all = this.outputs.filter((output) => output.topic === topic)
    this.#taken.set(topic, all.length)
    return all.slice(from).map(({ value, headers }) => {
      const header = (wanted: string): string => headers.find(([name]) => name === wanted)?.[1] ?? ''
      const receiver = header('ce_e2t')
      return `${header('ce_mtype')} ${String(value)} ${receiver}`.trim()
    })
  }

  readonly #taken = new Map<string, number>()
}

function isCall({ kind }: EffectRequest): boolean {
  return kind.startsWith('routing-manager')
}
