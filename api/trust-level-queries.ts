import { alternateIdQuery, cmHandleQuery, dmiPluginsQuery, searchQuery } from '../processors/trust-level/index.js'
import type { Streams } from '../topology/streams.js'

/** The domain of the NCMP routes. */
export const TRUST_LEVEL = 'trust-level'

/** The queries of the trust-level domain that HTTP asks. */
export interface TrustLevelQueries {
  readonly cmHandle: ReturnType<typeof cmHandleQuery>
  readonly alternateId: typeof alternateIdQuery
  readonly search: typeof searchQuery
  readonly dmiPlugins: typeof dmiPluginsQuery
}

export function trustLevelQueries(streams: Streams): TrustLevelQueries {
  return {
    cmHandle: cmHandleQuery(streams.journal(TRUST_LEVEL).topic),
    alternateId: alternateIdQuery,
    search: searchQuery,
    dmiPlugins: dmiPluginsQuery,
  }
}
