import type { QueryReader } from '../../topology/processor.js'
import { nextRetryAt } from './retries.js'
import { platforms } from './tables.js'

/** What operators watch. (address health, section 3, row 16) */
export const gauges = {
  /** Addresses that are FAILED. */
  failed_addresses(reader: QueryReader): number {
    let failed = 0
    for (const [, { addresses }] of reader.resident(platforms)) {
      for (const { state } of addresses) if (state === 'FAILED') failed++
    }
    return failed
  },
  /** For how long a retry has been due that no call came for; the longest. */
  retry_due_seconds(reader: QueryReader): number {
    const now = reader.journalTime
    return (now - Math.min(now, ...retriesNotBegun(reader))) / 1000
  },
}

/** When each retry has come due, or will, that is not under way. */
function* retriesNotBegun(reader: QueryReader): Generator<number> {
  for (const [, row] of reader.resident(platforms)) {
    for (const address of row.addresses) {
      const dueAt = address.attemptId === '' ? nextRetryAt(row, address) : null
      if (dueAt !== null) yield dueAt
    }
  }
}
