import { within } from '../../common/clock.js'
import type { Clock } from '../../common/clock.js'
import type { ActRequest, ActResult, SiteAct } from '../../api/site/site-control.js'
import { otherSite, roleOf } from '../../processors/site/index.js'
import type { SiteAnswer, SiteName, SiteRecord, SwitchRequested } from '../../processors/site/index.js'
import type { PeerContact } from './peer-contact.js'
import type { PeerWatch } from './peer-watch.js'
import type { Peer } from './peer.js'
import type { By } from './register-client.js'

export interface SiteActsOptions {
  readonly clock: Clock
  readonly site: SiteName
  readonly peer: Pick<Peer, 'act'>
  readonly contact: Pick<PeerContact, 'exchange'>
  readonly watch: Pick<PeerWatch, 'hasFailed'>
  readonly manualWindowMs: number
  /** The newest that is known, also where it is not logged yet. */
  readonly record: () => SiteRecord
  /** Asks the register for a switch to this site, and begins its work. */
  readonly request: (data: SwitchRequested['data'], by: By) => Promise<SiteAnswer['outcome']>
  readonly abort: (epoch: number) => Promise<boolean>
  /** The two records meet. */
  readonly hearPeer: () => Promise<void>
}

/** An operator is answered at once, however late the other site is. */
const HEAR_MS = 2000

/** What operators ask for: done by the target, told from the register, and answered at once. (two sites, section 5) */
export class SiteActs {
  readonly #options: SiteActsOptions

  constructor(options: SiteActsOptions) {
    this.#options = options
  }

  async act(act: SiteAct, request: ActRequest): Promise<ActResult> {
    const { site, record } = this.#options
    const target = act === 'abort' ? record().target : act === 'failover' ? 'secondary' : 'primary'
    if (target === null) return { ok: false, reason: 'conflict', message: 'there is no switch under way' }
    if (target !== site) return this.#passOn(act, target, request)
    return act === 'abort' ? this.#abort() : this.#switchHere(act, request)
  }

  async #passOn(act: SiteAct, target: SiteName, { actor, reason, forwarded }: ActRequest): Promise<ActResult> {
    const { clock, site, peer, record, hearPeer } = this.#options
    const { phase, active } = record()
    if (isSwitchingTo(site, record())) return this.#conflict()
    if (act !== 'abort' && active === target && phase === 'STEADY') return this.#answer(act, 'done')
    const message = `the ${target} site, which must do it, does not answer; ask again`
    if (forwarded) return { ok: false, reason: 'unreachable', message }
    const unreachable: ActResult = { ok: false, reason: 'unreachable', message }
    const result = await peer.act(act, { actor, reason }).catch(() => unreachable)
    // So that this site, too, tells what it has brought about.
    const heard = result.ok ? hearPeer().catch(() => undefined) : Promise.resolve()
    await within(clock, HEAR_MS, heard)
    return result
  }

  async #abort(): Promise<ActResult> {
    const { record, abort } = this.#options
    if (await abort(record().epoch)) return this.#answer('abort', 'done')
    return { ok: false, reason: 'conflict', message: `in phase ${record().phase} a switch goes on to its end` }
  }

  async #switchHere(act: 'failover' | 'failback', { actor, reason }: ActRequest): Promise<ActResult> {
    const { site: target, watch, manualWindowMs: windowMs, record, request, hearPeer } = this.#options
    // Of a target in the middle of its switch no answer is not enough: it must have failed its checks.
    if (isSwitchingTo(otherSite(target), record()) && !watch.hasFailed) return this.#conflict()
    // One that fails its checks cannot be waited for, even where it answers.
    const oldAlive = !watch.hasFailed && (await this.#mayPeerConsume())
    const data = { target, kind: 'manual' as const, oldAlive, windowMs }
    const outcome = await request(data, { actor, reason })
    if (outcome === 'opposite') return this.#conflict()
    // So that the other site refuses the opposite from now on.
    if (outcome === 'started') void hearPeer().catch(() => undefined)
    return this.#answer(act, outcome === 'done' ? 'done' : 'running')
  }

  /** One that only does not answer now is waited for until it has failed its checks. */
  #mayPeerConsume(): Promise<boolean> {
    const { clock, site, contact } = this.#options
    const asked = contact.exchange().then(
      ({ record }) => roleOf(otherSite(site), record).consumes,
      () => true,
    )
    return within(clock, HEAR_MS, asked).then((mayConsume = true) => mayConsume)
  }

  #conflict(): ActResult {
    const { target, phase } = this.#options.record()
    const running = target === 'secondary' ? 'failover' : 'failback'
    return { ok: false, reason: 'conflict', message: `a ${running} is in phase ${phase}` }
  }

  #answer(act: SiteAct, how: 'done' | 'running'): ActResult {
    const { epoch, phase } = this.#options.record()
    const status = act === 'abort' ? 'aborted' : how === 'done' ? (`${act}ed` as const) : (`${act}ing` as const)
    return { ok: true, status, epoch, phase }
  }
}

export function isSwitchingTo(site: SiteName, { target, phase }: SiteRecord): boolean {
  return target === site && phase !== 'FAILED'
}
