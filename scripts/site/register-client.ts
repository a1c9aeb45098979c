import { registerQuery, SITE_KEY, SITE_REGISTER } from '../../processors/site/index.js'
import type { InstanceReported, SiteAnswer, SiteEvent, SiteRegister } from '../../processors/site/index.js'
import type { Domains } from './domain-host.js'

export interface RegisterClientOptions {
  readonly register: Pick<Domains, 'application' | 'streams'>
  /** Ids of commands, never the same twice. */
  readonly newId: () => string
}

/** Who asks for a change of the register, and why. */
export interface By {
  readonly actor?: string
  readonly reason?: string
}

/** The site register as an instance of the site asks it, wherever it is. */
export interface RegisterClient {
  /** Number of the owner's term in which the register is here: this instance leads the site; undefined: another one does, or nobody. */
  readonly term: number | undefined
  /** Where this instance is reached; empty before it has joined. */
  readonly instance: string
  /** Where the one that leads is reached, where that is another. */
  readonly leaderUrl: string | undefined
  /** Of all instances of the site, as of the last rebalance. */
  readonly instances: readonly string[]
  /** The group counts this instance in. */
  readonly isCurrent: boolean
  /** As it stands; undefined: nobody answers for it. */
  read(): Promise<SiteRegister | undefined>
  /** Rejects when the register does not answer. */
  command(event: SiteEvent, by?: By): Promise<SiteAnswer>
  /** Of this instance, or of one that is gone; resolves when it is in the journal. */
  report(data: InstanceReported['data']): Promise<void>
}

const COMMAND_MS = 10_000

export function registerClient({ register, newId }: RegisterClientOptions): RegisterClient {
  const { application, streams } = register
  const { directory } = application
  return {
    get term() {
      const task = application.isCurrent ? application.tasks.find(({ state }) => state === 'LIVE') : undefined
      return task?.foldState.epoch
    },
    get instance() {
      return directory.instances.find(({ isSelf }) => isSelf)?.url ?? ''
    },
    get leaderUrl() {
      const { owner } = directory.holders(SITE_REGISTER, 0)
      return owner === undefined || owner.isSelf || owner.url === '' ? undefined : owner.url
    },
    get instances() {
      return directory.instances.map(({ url }) => url)
    },
    get isCurrent() {
      return application.isCurrent
    },
    async read() {
      const found = await streams.query(SITE_REGISTER, registerQuery, SITE_KEY, {}, { role: 'active' })
      return found.ok ? found.result : undefined
    },
    async command(event, { actor = '', reason = '' } = {}) {
      const options = {
        commandId: newId(),
        timeoutMs: COMMAND_MS,
        ...(actor !== '' && { actor }),
        ...(reason !== '' && { reason }),
      }
      const result = await streams.command<SiteAnswer>(SITE_REGISTER, { key: SITE_KEY }, event, options)
      if (!result.ok) throw new Error(`the site register: ${result.message}`)
      return result.answer
    },
    async report(data) {
      const event = { type: 'InstanceReported', data } satisfies InstanceReported
      await streams.ingest(SITE_REGISTER, [{ key: SITE_KEY, event, original: null }])
    },
  }
}
