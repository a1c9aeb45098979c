import { recordQuery, SITE_KEY, SITE_REGISTER } from '../../processors/site/index.js'
import type { SiteAnswer, SiteEvent, SiteRecord } from '../../processors/site/index.js'
import type { Application } from '../../topology/application.js'

export interface RegisterClientOptions {
  readonly register: Application
  /** Ids of commands, never the same twice. */
  readonly newId: () => string
}

/** Who asks for a change of the register, and why. */
export interface By {
  readonly actor?: string
  readonly reason?: string
}

/** The site register as this site asks it. */
export interface RegisterClient {
  /** As it stands; undefined: its task is not live here. */
  read(): Promise<SiteRecord | undefined>
  /** Rejects when the register does not answer. */
  command(event: SiteEvent, by?: By): Promise<SiteAnswer>
}

const COMMAND_MS = 10_000

export function registerClient({ register, newId }: RegisterClientOptions): RegisterClient {
  return {
    async read() {
      if (!register.readiness().ready) return undefined
      const found = await register.query(SITE_REGISTER, recordQuery, SITE_KEY, {})
      return found.ok ? found.result : undefined
    },
    async command(event, { actor = '', reason = '' } = {}) {
      const options = {
        commandId: newId(),
        timeoutMs: COMMAND_MS,
        ...(actor !== '' && { actor }),
        ...(reason !== '' && { reason }),
      }
      const result = await register.command<SiteAnswer>(SITE_REGISTER, { key: SITE_KEY }, event, options)
      if (!result.ok) throw new Error(`the site register: ${result.message}`)
      return result.answer
    },
  }
}
