import type { Query } from '../topology/processor.js'
import type {
  AlternateIdLookUp,
  CmHandleLookUp,
  DmiPluginsPage,
  SearchArguments,
  SearchPage,
} from '../processors/trust-level/views.js'

/** The queries of the trust-level domain that HTTP asks. */
export interface TrustLevelQueries {
  readonly cmHandle: Query<{ readonly cmHandle: string }, CmHandleLookUp>
  readonly alternateId: Query<{ readonly alternateId: string }, AlternateIdLookUp>
  readonly search: Query<SearchArguments, SearchPage>
  readonly dmiPlugins: Query<Record<string, never>, DmiPluginsPage>
}
