import { platformQuery, platformsQuery } from './platforms.js'
import { selectionQuery } from './selection.js'

/** The questions that address health answers. */
export const addressHealthQueries = {
  platform: platformQuery,
  platforms: platformsQuery,
  selection: selectionQuery,
}
