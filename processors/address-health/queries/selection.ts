import type { Query } from '../../../topology/processor.js'
import { select } from '../selection.js'
import type { SelectionMemory } from '../selection.js'
import { platforms } from '../tables.js'
import type { Selection } from '../views.js'

/** The address for one call, from the owner's memory alone. */
export const selectionQuery: Query<{ readonly platform: string }, Selection> = {
  name: 'selection',
  run(reader, { platform }) {
    const row = reader.residentRow(platforms, platform)
    return Promise.resolve(select(platform, row, reader.journalTime, reader.memory as SelectionMemory))
  },
}
