import type { ActResult, SiteAct, SiteView, TaskDigest } from '../../api/site/site-control.js'
import type { SiteRecord } from '../../processors/site/index.js'
import type { ReadPeer } from '../../topology/preload/mirror.js'

/** The other site. Every method rejects when it does not answer in time. */
export interface Peer {
  readonly url: string
  /** Shows it this site's record; answers with its own. `accepted`: it acts by it (or knew it). */
  exchange(record: SiteRecord): Promise<SiteView & { readonly accepted: boolean }>
  /** Its health address says 200, on a connection of its own. */
  isHealthy(): Promise<boolean>
  history: ReadPeer
  act(act: SiteAct, request: { readonly actor: string; readonly reason: string }): Promise<ActResult>
  digests(): Promise<readonly TaskDigest[]>
}
