import type { Query, QueryReader } from '../../../topology/processor.js'
import { platforms } from '../tables.js'
import { platformView } from '../views.js'
import type { PlatformView } from '../views.js'
import type { Rows } from '../windows.js'

/** One platform; null: there is none of this name. */
export const platformQuery: Query<{ readonly platform: string }, PlatformView | null> = {
  name: 'platform',
  run(reader, { platform }) {
    const row = reader.residentRow(platforms, platform)
    return Promise.resolve(row === undefined ? null : platformView(platform, row, reader.journalTime, rowsOf(reader)))
  },
}

/** A partition's platforms by name, those after `after`, at most `limit`. */
export const platformsQuery: Query<{ readonly after?: string; readonly limit: number }, readonly PlatformView[]> = {
  name: 'platforms',
  run(reader, { after = '', limit }) {
    const rows = rowsOf(reader)
    const found: PlatformView[] = []
    for (const [name, row] of reader.resident(platforms)) {
      if (found.length >= limit) break
      if (name > after) found.push(platformView(name, row, reader.journalTime, rows))
    }
    return Promise.resolve(found)
  },
}

function rowsOf(reader: QueryReader): Rows {
  return { get: (table, key) => reader.residentRow(table, key) }
}
