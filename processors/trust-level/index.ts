export { trustLevel } from './trust-level.js'
export type { TrustLevelOptions } from './trust-level.js'
export type { TrustLevelSettings } from './settings.js'
export { trustLevelQueries } from './queries/index.js'
