import { trustLevelQueries as queriesOf } from '../processors/trust-level/index.js'
import type { Streams } from '../topology/streams.js'

/** The domain of the NCMP routes. */
export const TRUST_LEVEL = 'trust-level'

/** The queries of the trust-level domain that HTTP asks. */
export type TrustLevelQueries = ReturnType<typeof queriesOf>

export const trustLevelQueries = (streams: Streams): TrustLevelQueries => queriesOf(streams.journal(TRUST_LEVEL).topic)
