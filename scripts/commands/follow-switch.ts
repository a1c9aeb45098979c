import { sleep } from '../../common/clock.js'
import type { Clock } from '../../common/clock.js'
import { ensureError } from '../../common/errors.js'
import type { Progress } from '../simulate/progress.js'
import type { SiteAnswer } from './site.js'

export interface FollowSwitchOptions {
  readonly clock: Clock
  readonly progress: Progress
  /** How the sites stand. */
  readonly ask: () => Promise<SiteAnswer>
}

const POLL_MS = 500
/** A site that does not answer for so long is not asked any more. */
const PATIENCE_MS = 60_000

/**
 * Shows how far the switch of this epoch is until it has ended, also where the site that is asked is away for a while; resolves
 * with how the sites stand then. Rejects with what `ask` last rejected with.
 */
export async function followSwitch({ clock, progress, ask }: FollowSwitchOptions, epoch: number): Promise<SiteAnswer> {
  let heardAt = clock.monotonic()
  try {
    for (;;) {
      try {
        const site = await ask()
        heardAt = clock.monotonic()
        if (hasEnded(site, epoch)) return site
        show(progress, site, epoch)
      } catch (thrown) {
        if (clock.monotonic() - heardAt >= PATIENCE_MS) throw thrown
        progress.step(ensureError(thrown).message)
      }
      await sleep(clock, POLL_MS)
    }
  } finally {
    progress.stop()
  }
}

/** The site that is asked may not have heard of the switch yet. */
function hasEnded(site: SiteAnswer, epoch: number): boolean {
  return site.epoch >= epoch && (site.phase === 'STEADY' || site.phase === 'FAILED')
}

function show(progress: Progress, site: SiteAnswer, epoch: number): void {
  const { phase, events, eventsPerSecond, etaMs, error } = site
  if (site.epoch < epoch) {
    progress.step(`the ${site.site} site has not heard of it yet`)
    return
  }
  const left = etaMs === null ? undefined : (etaMs * eventsPerSecond) / 1000
  if (phase === 'PRELOAD' && left !== undefined && events > 0) progress.update((99 * events) / (events + left))
  else if (phase !== 'PRELOAD') progress.update(99)
  const rate = eventsPerSecond > 0 ? `, ${eventsPerSecond} events/s` : ''
  const rest = etaMs === null || etaMs === 0 ? '' : `, ${Math.ceil(etaMs / 1000)} s left`
  progress.step(`${phase}${rate}${rest}${error === undefined ? '' : ` (${error})`}`)
}
