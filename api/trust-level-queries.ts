import { trustLevelQueries as queriesOf } from '../processors/trust-level/index.js'
import { names } from '../topology/names.js'

/** The domain of the NCMP routes. */
export const TRUST_LEVEL = 'trust-level'

/** The queries of the trust-level domain that HTTP asks. */
export type TrustLevelQueries = ReturnType<typeof queriesOf>

export const trustLevelQueries = (applicationId: string): TrustLevelQueries =>
  queriesOf(names.journal(applicationId, TRUST_LEVEL))
