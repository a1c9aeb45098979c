import { otherSite } from '../../processors/site/index.js'
import { Mirror } from '../../topology/preload/mirror.js'
import { sharedJournals } from '../../topology/preload/peer-journals.js'
import type { PeerJournals } from '../../topology/preload/peer-journals.js'
import type { PreloadOptions } from '../../topology/preload/preload.js'
import type { SiteOptions } from './site-options.js'

/** Where a site has the other one's journals: in the cluster that they share, or in a mirror of its own. */
export function peerJournalsOf(options: SiteOptions): PeerJournals {
  const { site, log, clock, processors, partitions, peer, settings, onError } = options
  const other = { log, clock, site: otherSite(site), applicationId: options.peerApplicationId }
  if (options.sharesLog) return sharedJournals(other)
  return new Mirror({
    ...other,
    domains: processors.map(({ name }) => name),
    partitions,
    retentionMs: settings.journalRetentionMs,
    readPeer: peer.history,
    onError: (error) => onError('mirror', error),
  })
}

/** How a site loads from its own journals and the other's, by the name of the load. */
export function loadOptions(options: SiteOptions, mirror: PeerJournals): (load: string) => PreloadOptions {
  const { site, log, stores, clock, processors, applicationId, partitions, settings, onError } = options
  return (load) => ({
    ...{ site, log, stores, clock, processors, applicationId, partitions, load },
    peerJournal: (domain, partition) => mirror.source(domain, partition),
    rowCacheBytes: settings.rowCacheBytes,
    onError: (error) => onError('pre-load', error),
  })
}
