import { PulsefoldError } from '../../common/errors.js'
import type { ErrorTable } from '../../common/errors.js'

export const peerErrors = {
  PEER_UNREACHABLE: {
    action: 'Another instance takes no connections: see whether it runs, and whether its advertised URL is right.',
    retryable: true,
  },
  PEER_BROKEN_OFF: { action: 'Another instance has ended in the middle of an answer: see its log.', retryable: true },
  PEER_TIMED_OUT: { action: 'Another instance does not answer in time: see its load and its log.', retryable: true },
  PEER_ANSWER_TOO_LARGE: { action: 'Ask for less at once: the answer of another instance is beyond what is taken.' },
  PEER_REFUSED: {
    action: 'Another instance refuses what this one asks: run the same version on all, on the same Kafka cluster.',
  },
} as const satisfies ErrorTable

/** What keeps one instance from being answered by another; `details` name its URL. */
export class PeerError extends PulsefoldError<keyof typeof peerErrors> {
  constructor(
    code: keyof typeof peerErrors,
    message: string,
    context?: ConstructorParameters<typeof PulsefoldError>[3],
  ) {
    super(peerErrors, code, message, context)
  }
}
