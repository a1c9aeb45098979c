import { alternateIdQuery, cmHandleQuery, referenceQuery } from './cm-handle.js'
import { dmiPluginsQuery } from './dmi-plugins.js'
import { searchQuery } from './search.js'

/** The questions that trust levels answer. `journalTopic`: for the positions in evidence. */
export const trustLevelQueries = (journalTopic: string) => ({
  cmHandle: cmHandleQuery(journalTopic),
  alternateId: alternateIdQuery,
  reference: referenceQuery(journalTopic),
  search: searchQuery,
  dmiPlugins: dmiPluginsQuery,
})
