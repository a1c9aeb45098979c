import type {
  AddressHealthEvent,
  AddressOperation,
  CallOutcomeReported,
  CallResult,
  PlatformParameters,
  RetryAnswer,
} from '../../schemas/address-health/journal-events.js'
import { FoldKit } from '../fold-kit.js'
import type { FoldKitOptions } from '../fold-kit.js'
import { addressHealth } from './address-health.js'
import type { PlatformAnswer } from './commands.js'
import { addressHealthQueries } from './queries/index.js'
import type { AddressHealthSettings } from './settings.js'
import { platforms } from './tables.js'
import type { AddressRow } from './tables.js'
import type { AddressPlace, PlatformView } from './views.js'

export const PLATFORM = 'voicemail'
export const SECOND_MS = 1000

export const testSettings: AddressHealthSettings = {
  outcomeIdLimit: 10_000,
  maxFutureSkewMs: 300_000,
  alarmTopic: 'alarms',
  alertmanager: false,
  alertmanagerRepeatMs: 60_000,
}

/** The vendor's defaults. */
export const defaults: PlatformParameters = {
  selectionMode: 'ACTIVE_STANDBY',
  detectInterval: 5 * SECOND_MS,
  detectThreshold: 0.5,
  retryInterval: 30 * SECOND_MS,
  retryAttempts: 3,
  minCalls: 1,
  panicMode: false,
}

export interface Selected {
  readonly address: string | null
  readonly attemptId?: string
  readonly fallback?: string
}

export interface TestOutcome extends Partial<CallOutcomeReported> {
  readonly platform?: string
}

/** The address-health domain in a fold kit, with what nodes and operators do in their own words. */
export class AddressHealthKit extends FoldKit<AddressHealthEvent, AddressHealthSettings> {
  readonly queries = addressHealthQueries
  #calls = 0

  constructor(
    settings: Partial<AddressHealthSettings> = {},
    options: FoldKitOptions<AddressHealthSettings> = {},
    random = (): number => 0,
  ) {
    const used = { ...testSettings, ...settings }
    super(addressHealth({ settings: used, callOutcomeTopic: 'outcomes', random, effectors: [] }), options)
  }

  create(
    addresses: readonly string[],
    parameters: Partial<PlatformParameters> = {},
    platform = PLATFORM,
  ): PlatformAnswer {
    const added = addresses.map((address) => ({ address, active: true }))
    const data = { platform, ...defaults, ...parameters, addresses: added }
    return this.when(platform, { type: 'PlatformCreated', data }) as PlatformAnswer
  }

  update(changes: Partial<PlatformParameters>): PlatformAnswer {
    const data = { platform: PLATFORM, ...UNCHANGED, ...changes }
    return this.when(PLATFORM, { type: 'PlatformUpdated', data }) as PlatformAnswer
  }

  delete(): PlatformAnswer {
    return this.when(PLATFORM, { type: 'PlatformDeleted', data: { platform: PLATFORM } }) as PlatformAnswer
  }

  add(address: string, position: number | null = null, active = true): PlatformAnswer {
    const data = { platform: PLATFORM, address, active, position }
    return this.when(PLATFORM, { type: 'AddressAdded', data }) as PlatformAnswer
  }

  operate(operation: AddressOperation, position = 0, expected: string | null = null): PlatformAnswer {
    const data = { platform: PLATFORM, position, operation, expected }
    return this.when(PLATFORM, { type: 'AddressOperated', data }) as PlatformAnswer
  }

  /** The outcome of a call that nothing else names. */
  outcome(address: string, result: CallResult, more: TestOutcome = {}): void {
    const call = `call-${++this.#calls}`
    const platform = more.platform ?? PLATFORM
    const data = { ...OUTCOME, platform, address, result, callId: call, eventId: `event-${call}`, ...more }
    this.when(platform, { type: 'CallOutcomeReported', data })
  }

  /** Calls at this moment, of which so many fail, the failed ones first. */
  calls(address: string, total: number, failed: number): void {
    for (let call = 0; call < total; call++) this.outcome(address, call < failed ? 'failure' : 'success')
  }

  /** Fails an ACTIVE address in the interval that runs, and waits for its end. */
  fail(address: string, intervalMs = 5 * SECOND_MS): void {
    this.outcome(address, 'failure')
    this.advance(intervalMs)
  }

  /** The address for one call, as the API asks for it. */
  async select(platform = PLATFORM): Promise<Selected> {
    const selection = await this.query(this.queries.selection, platform, { platform })
    if (!selection.found) throw new Error(`there is no platform ${platform}`)
    const { choice, fallback, retry } = selection
    if (retry !== null) {
      const data = { platform, addressId: retry.addressId, callId: `call-${++this.#calls}` }
      const answer = this.when(platform, { type: 'RetryRequested', data }) as RetryAnswer
      if (answer.granted) return selected(retry, choice, answer.attemptId)
    }
    return selected(choice, fallback)
  }

  async platform(): Promise<PlatformView> {
    const view = await this.query(this.queries.platform, PLATFORM, { platform: PLATFORM })
    if (view === null) throw new Error(`there is no platform ${PLATFORM}`)
    return view
  }

  /** State of an address by now, as folded. */
  state(address: string, platform = PLATFORM): AddressRow['state'] | undefined {
    const row = this.row(platforms, platform, platform)
    return row?.addresses.find((candidate) => candidate.address === address)?.state
  }

  /** Alarms since the last call: "raised voicemail/1 THRESHOLD 2/4". */
  alarms(): string[] {
    return this.outputs.splice(0).map(({ key, value }) => {
      const { state, reason, failed, calls } = JSON.parse(String(value)) as Record<string, string | number | undefined>
      return `${state} ${key} ${reason}${calls === undefined ? '' : ` ${failed}/${calls}`}`
    })
  }
}

function selected(choice: AddressPlace | null, fallback: AddressPlace | null, attemptId?: string): Selected {
  return {
    address: choice?.address ?? null,
    ...(attemptId !== undefined && { attemptId }),
    ...(fallback !== null && { fallback: fallback.address }),
  }
}

const UNCHANGED: Readonly<Record<keyof PlatformParameters, null>> = {
  selectionMode: null,
  detectInterval: null,
  detectThreshold: null,
  retryInterval: null,
  retryAttempts: null,
  minCalls: null,
  panicMode: null,
}

const OUTCOME: Omit<CallOutcomeReported, 'platform' | 'address' | 'result' | 'callId' | 'eventId'> = {
  cause: '',
  attemptId: '',
  eventTime: null,
  eventTimeSource: 'ABSENT',
  producer: 'sis-1',
}
