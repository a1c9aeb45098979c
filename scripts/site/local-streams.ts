import { SITE_REGISTER } from '../../processors/site/index.js'
import type { Application } from '../../topology/application.js'
import type { LocalStreams } from '../../topology/cluster/local-streams.js'

/** What an instance of a site does by itself, as the other instances ask it: the register's part, and that of the domains. */
export function localStreams(register: Application, domains: () => Application): LocalStreams {
  const of = (domain: string): Application => (domain === SITE_REGISTER ? register : domains())
  return {
    get processors() {
      return [...register.processors, ...domains().processors]
    },
    get log() {
      return domains().log
    },
    journal: (domain) => of(domain).journal(domain),
    ingest: (domain, events) => of(domain).ingest(domain, events),
    queryLocal: (domain, ...rest) => of(domain).queryLocal(domain, ...rest),
    commandLocal: (domain, ...rest) => of(domain).commandLocal(domain, ...rest),
    readiness: () => domains().readiness(),
    sources: () => domains().sources(),
    restartSource: (...act) => domains().restartSource(...act),
  }
}
