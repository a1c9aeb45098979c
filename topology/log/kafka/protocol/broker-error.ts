/** The errors of brokers that are told apart, by their number on the wire; the names are kafkajs's. */
const names: Readonly<Record<number, string>> = {
  [-1]: 'UNKNOWN',
  1: 'OFFSET_OUT_OF_RANGE',
  3: 'UNKNOWN_TOPIC_OR_PARTITION',
  5: 'LEADER_NOT_AVAILABLE',
  6: 'NOT_LEADER_FOR_PARTITION',
  7: 'REQUEST_TIMED_OUT',
  10: 'MESSAGE_TOO_LARGE',
  14: 'GROUP_LOAD_IN_PROGRESS',
  15: 'GROUP_COORDINATOR_NOT_AVAILABLE',
  16: 'NOT_COORDINATOR_FOR_GROUP',
  17: 'INVALID_TOPIC_EXCEPTION',
  18: 'RECORD_LIST_TOO_LARGE',
  19: 'NOT_ENOUGH_REPLICAS',
  20: 'NOT_ENOUGH_REPLICAS_AFTER_APPEND',
  29: 'TOPIC_AUTHORIZATION_FAILED',
  30: 'GROUP_AUTHORIZATION_FAILED',
  31: 'CLUSTER_AUTHORIZATION_FAILED',
  47: 'INVALID_PRODUCER_EPOCH',
  48: 'INVALID_TXN_STATE',
  49: 'INVALID_PRODUCER_ID_MAPPING',
  51: 'CONCURRENT_TRANSACTIONS',
  53: 'TRANSACTIONAL_ID_AUTHORIZATION_FAILED',
  56: 'KAFKA_STORAGE_ERROR',
  72: 'LISTENER_NOT_FOUND',
  74: 'FENCED_LEADER_EPOCH',
  75: 'UNKNOWN_LEADER_EPOCH',
  78: 'OFFSET_NOT_AVAILABLE',
  90: 'PRODUCER_FENCED',
  100: 'UNKNOWN_TOPIC_ID',
  103: 'INCONSISTENT_TOPIC_ID',
}

/** What a broker answered instead of doing it. */
export class BrokerError extends Error {
  readonly type: string

  constructor(code: number) {
    const type = names[code] ?? `ERROR_${code}`
    super(`the broker answered ${type}`)
    this.name = 'BrokerError'
    this.type = type
  }
}

/** Nothing when all is well. Errors: BrokerError. */
export function checkCode(code: number): void {
  if (code !== 0) throw new BrokerError(code)
}

/** The broker's error name, of errors of ours and of kafkajs; empty when it is none. */
export function typeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return ''
  if ('type' in error && typeof error.type === 'string') return error.type
  return 'cause' in error ? typeOf(error.cause) : ''
}
