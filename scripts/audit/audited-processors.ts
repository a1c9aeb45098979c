import type { Settings } from '../../common/settings.js'
import { SITE_REGISTER, siteRegister } from '../../processors/site/index.js'
import { names } from '../../topology/names.js'
import type { Processor } from '../../topology/processor.js'
import { declaredProcessors } from '../process/declared-processors.js'

/** As the audits of an application call the register, which is an application of its own with a longer name. */
export const REGISTER = `site-${SITE_REGISTER}`

/** All that has a journal: the domains, and the register of two sites. */
export function auditedProcessors(settings: Settings): readonly Processor[] {
  const register = siteRegister(names.site(settings.applicationId)) as Processor
  return [...declaredProcessors(settings), { ...register, name: REGISTER, store: REGISTER }]
}

/** The name of a task's store as it is on disk. */
export function storedName(taskStore: string): string {
  return taskStore.startsWith(`${REGISTER}-`) ? taskStore.slice('site-'.length) : taskStore
}

/** Of two sites in one cluster the other's journals, by domain; of the register each has the other's changes. */
export function peerJournalOf({
  siteSharesLog,
  sitePeerApplicationId,
}: Settings): ((domain: string) => string | undefined) | undefined {
  if (!siteSharesLog) return undefined
  return (domain) => (domain === REGISTER ? undefined : names.journal(sitePeerApplicationId, domain))
}
