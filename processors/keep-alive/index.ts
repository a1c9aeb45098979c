export { keepAlive } from './keep-alive.js'
export type { KeepAliveOptions } from './keep-alive.js'
export type { KeepAliveSettings } from './settings.js'
export { keepAliveQueries } from './queries.js'
