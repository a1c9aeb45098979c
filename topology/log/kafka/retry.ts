import type { Clock } from '../../../common/clock.js'
import { sleep } from '../../../common/clock.js'
import { ensureError } from '../../../common/errors.js'
import { LogError } from '../errors.js'
import { typeOf } from './protocol/broker-error.js'

const firstPauseMs = 20
const longestPauseMs = 1_000

/** The pause before attempt `failures + 1`. */
export function pauseMs(failures: number): number {
  return Math.min(longestPauseMs, firstPauseMs * 2 ** (failures - 1))
}

/** The brokers that this instance knows are not those that lead by now; what was asked was not done. */
const staleTypes = new Set([
  'UNKNOWN_TOPIC_OR_PARTITION',
  'UNKNOWN_TOPIC_ID',
  'INCONSISTENT_TOPIC_ID',
  'LEADER_NOT_AVAILABLE',
  'NOT_LEADER_FOR_PARTITION',
  'FENCED_LEADER_EPOCH',
  'UNKNOWN_LEADER_EPOCH',
  'LISTENER_NOT_FOUND',
  'OFFSET_NOT_AVAILABLE',
  'NOT_CONTROLLER',
])

/** A coordinator that moved, or reads its own topics still. */
const coordinatorTypes = new Set([
  'GROUP_LOAD_IN_PROGRESS',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  'NOT_COORDINATOR_FOR_GROUP',
])

/** Names of what kafkajs throws when a broker cannot be reached, or was not in time. */
const connectionNames = new Set([
  'KafkaJSConnectionError',
  'KafkaJSConnectionClosedError',
  'KafkaJSRequestTimeoutError',
  'KafkaJSBrokerNotFound',
  'KafkaJSLockTimeout',
  'KafkaJSNoBrokerAvailableError',
  'KafkaJSGroupCoordinatorNotFound',
  'KafkaJSMetadataNotLoaded',
])

export function isStale(error: unknown): boolean {
  return staleTypes.has(typeOf(error))
}

export function isCoordinatorMoved(error: unknown): boolean {
  return coordinatorTypes.has(typeOf(error))
}

/** Whether the cause is the network or a broker that is away; what was asked may have been done. */
export function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return connectionNames.has(error.name) || isUnreachable(error.cause)
}

/** Whether there was no connection to send on. */
export function isUnsent(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const isRefused = 'code' in error && error.code === 'ECONNREFUSED'
  return isRefused || error.name === 'KafkaJSBrokerNotFound' || isUnsent(error.cause)
}

export function isRetriable(error: unknown): boolean {
  return isStale(error) || isCoordinatorMoved(error) || isUnreachable(error) || typeOf(error) === 'REQUEST_TIMED_OUT'
}

/** The brokers do not know this instance, or do not let it do what it must. */
const deniedTypes = new Set([
  'TOPIC_AUTHORIZATION_FAILED',
  'GROUP_AUTHORIZATION_FAILED',
  'CLUSTER_AUTHORIZATION_FAILED',
  'TRANSACTIONAL_ID_AUTHORIZATION_FAILED',
  'SASL_AUTHENTICATION_FAILED',
])

export function isDenied(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return deniedTypes.has(typeOf(error)) || error.name === 'KafkaJSSASLAuthenticationError' || isDenied(error.cause)
}

export function accessDenied(cause: unknown): LogError {
  return new LogError('ACCESS_DENIED', `the brokers refuse this: ${ensureError(cause).message}`, { cause })
}

export interface RetryOptions {
  readonly clock: Clock
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  /** Before each repeat. */
  readonly onRetry?: (error: unknown) => void
}

/** Repeats what may be repeated while it fails for reasons that pass. Errors: LOG_UNAVAILABLE when they do not in time. */
export async function retrying<T>(options: RetryOptions, attempt: () => Promise<T>): Promise<T> {
  const { clock, timeoutMs, signal, onRetry } = options
  const deadline = clock.monotonic() + timeoutMs
  for (let failures = 1; ; failures++) {
    try {
      return await attempt()
    } catch (error) {
      if (!isRetriable(error)) throw error
      if (clock.monotonic() >= deadline || signal?.aborted === true) throw unavailable(error)
      onRetry?.(error)
      await sleep(clock, pauseMs(failures), signal)
    }
  }
}

export function unavailable(cause: unknown): LogError {
  if (cause instanceof LogError) return cause
  return new LogError('LOG_UNAVAILABLE', `the brokers did not do it: ${ensureError(cause).message}`, { cause })
}
