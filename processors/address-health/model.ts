import type { AddressState, CallResult, PlatformParameters } from '../../schemas/address-health/journal-events.js'

/** For tests: one address of a platform told in plain words, from all that ever happened to it. Times in ms. */
export class AddressModel {
  state: AddressState = 'ACTIVE'
  successes = 0
  /** "raised 2/4", "cleared REPAIRED". */
  readonly alarms: string[] = []
  readonly #parameters: PlatformParameters
  #from: number
  #windows: ModelWindow[] = []
  #retryFrom = 0
  #attempt: { readonly id: string; readonly due: number } | undefined

  constructor(parameters: PlatformParameters, time: number) {
    this.#parameters = parameters
    this.#from = time
  }

  /** Does all that came due up to `time`, each thing at its time. */
  pass(time: number): void {
    for (const window of this.#windows.filter(({ isJudged, end }) => !isJudged && end <= time)) {
      window.isJudged = true
      const failed = window.calls.filter(({ isFailure }) => isFailure).length
      const { minCalls, detectThreshold } = this.#parameters
      const total = window.calls.length
      if (failed === 0 || total < minCalls || failed / total < detectThreshold) continue
      this.state = 'FAILED'
      this.successes = 0
      this.#retryFrom = window.end
      this.alarms.push(`raised ${failed}/${total}`)
    }
    if (this.#attempt !== undefined && this.#attempt.due <= time) {
      this.#attempt = undefined
      this.successes = 0
    }
  }

  outcome(time: number, result: CallResult, callId: string, eventId: string, attemptId: string): void {
    if (this.state === 'FAILED' && this.#attempt !== undefined && attemptId === this.#attempt.id) {
      this.#attempt = undefined
      if (result === 'failure') this.successes = 0
      if (result === 'success' && ++this.successes >= this.#parameters.retryAttempts) this.activate(time, 'REPAIRED')
      return
    }
    const { detectInterval } = this.#parameters
    if (this.state !== 'ACTIVE' || attemptId !== '' || result === 'ignored' || detectInterval === 0) return
    const start = this.#from + Math.floor((time - this.#from) / detectInterval) * detectInterval
    const earlier = this.#windows.filter((window) => window.calls.length > 0)
    const open = earlier.find((window) => window.start === start && !window.isJudged)
    const last = earlier.filter((window) => window !== open).at(-1)
    const remembered = [...(open?.calls ?? []), ...(last && last.end > start - detectInterval ? last.calls : [])]
    if (remembered.some((call) => call.callId === callId || call.eventId === eventId)) return
    const window = open ?? { start, end: start + detectInterval, isJudged: false, calls: [] }
    if (open === undefined) this.#windows.push(window)
    window.calls.push({ isFailure: result === 'failure', callId, eventId })
  }

  /** The id of the retry that this call is, when one is due. */
  retry(time: number, id: string): boolean {
    const { retryInterval } = this.#parameters
    const isDue = this.state === 'FAILED' && retryInterval > 0 && time >= this.#retryFrom + retryInterval
    if (!isDue || this.#attempt !== undefined) return false
    this.#retryFrom = time
    this.#attempt = { id, due: time + retryInterval }
    return true
  }

  activate(time: number, reason: 'ACTIVATED' | 'REPAIRED' | 'MANUAL_REPAIR'): void {
    if (this.state === (reason === 'ACTIVATED' ? 'INACTIVE' : 'FAILED')) this.#leave(time, 'ACTIVE', reason)
  }

  deactivate(time: number): void {
    if (this.state !== 'INACTIVE') this.#leave(time, 'INACTIVE', 'DEACTIVATED')
  }

  counts(time: number): { readonly calls: number; readonly failed: number } {
    const calls = this.#windows.find(({ isJudged, end }) => !isJudged && end > time)?.calls ?? []
    return { calls: calls.length, failed: calls.filter(({ isFailure }) => isFailure).length }
  }

  #leave(time: number, to: AddressState, reason: string): void {
    if (this.state === 'FAILED') this.alarms.push(`cleared ${reason}`)
    this.state = to
    this.successes = 0
    this.#attempt = undefined
    this.#from = time
    this.#windows = this.#windows.map((window) => ({ ...window, end: Math.min(window.end, time), isJudged: true }))
  }
}

interface ModelWindow {
  readonly start: number
  readonly end: number
  /** Or ended without. */
  isJudged: boolean
  readonly calls: { readonly isFailure: boolean; readonly callId: string; readonly eventId: string }[]
}
