import type { Command } from 'commander'
import { systemClock } from '../../common/clock.js'
import { progressOn } from '../simulate/progress.js'
import type { DrillReport, SiteAct } from '../../api/site/site-control.js'
import { followSwitch } from './follow-switch.js'
import { actorOption, askInstance, reasonOption, urlOption } from './operator.js'
import type { OperatorFlags } from './operator.js'

interface ActFlags extends OperatorFlags {
  readonly wait: boolean
}

interface ActAnswer {
  readonly status: string
  readonly epoch: number
}

/** `GET /site`, as far as it is shown here. */
export interface SiteAnswer {
  readonly site: string
  readonly active: string
  readonly target?: string
  readonly epoch: number
  readonly phase: string
  readonly kind: string
  readonly since: string | null
  readonly base: string
  readonly loadedTo: string | null
  readonly events: number
  readonly eventsPerSecond: number
  readonly etaMs: number | null
  readonly mirrorLagMs: number | null
  readonly peer: { readonly url: string; readonly healthy: boolean }
  readonly error?: string
  readonly lastSwitch?: Readonly<Record<string, unknown>>
}

const acts: Readonly<Record<SiteAct, string>> = {
  failover: 'make the secondary site the active one, and wait until it is',
  failback: 'make the primary site the active one, and wait until it is',
  abort: 'give up a switch that is in PRELOAD',
}

/** Adds `site`: which of two sites is active, and the acts that move that. */
export function registerSiteCommands(program: Command): void {
  const site = program.command('site').description('the two sites: which one is active, and moving that')
  site
    .command('status')
    .description('which site is active, and how far a switch is')
    .option(...urlOption)
    .action(async (flags: OperatorFlags) => {
      console.log(statusLines(await askInstance<SiteAnswer>(flags, '/site')).join('\n'))
    })
  for (const [act, description] of Object.entries(acts)) {
    site
      .command(act)
      .description(description)
      .option(...urlOption)
      .option(...actorOption)
      .option(...reasonOption)
      .option('--no-wait', 'ask for it, and do not wait for its end')
      .action(async (flags: ActFlags) => {
        const { status, epoch } = await askInstance<ActAnswer>(flags, `/site/${act}`, 'POST')
        console.log(status)
        if (!status.endsWith('ing') || !flags.wait) return
        const progress = progressOn(process.stderr, 100, 'percent')
        const ask = (): Promise<SiteAnswer> => askInstance<SiteAnswer>(flags, '/site')
        const site = await followSwitch({ clock: systemClock, progress, ask }, epoch)
        console.log(statusLines(site).join('\n'))
        const wanted = act === 'failover' ? 'secondary' : 'primary'
        if (site.phase !== 'STEADY' || site.active !== wanted) process.exitCode = 1
      })
  }
  site
    .command('drill')
    .description('load the waiting site beside what runs, compare it with the active one, and throw it away')
    .option(...urlOption)
    .action(async (flags: OperatorFlags) => {
      const report = await askInstance<DrillReport>(flags, '/site/drill', 'POST', 0)
      console.log(drillLines(report).join('\n'))
      if (!report.equal) process.exitCode = 1
    })
}

export function statusLines(site: SiteAnswer): string[] {
  const { active, target, phase, epoch, kind, since, base, loadedTo, mirrorLagMs, peer, error, lastSwitch } = site
  const lines = [
    `this site      ${site.site}`,
    `active         ${active}${target === undefined ? '' : `, ${target} is becoming it`}`,
    `phase          ${phase}, epoch ${epoch}, ${kind}${since === null ? '' : `, since ${since}`}`,
    `other site     ${peer.url}, ${peer.healthy ? 'takes traffic' : 'takes no traffic'}`,
    `mirror         ${mirrorLagMs === null ? 'not complete yet' : `${mirrorLagMs} ms behind`}; base ${base}`,
  ]
  if (loadedTo !== null) lines.push(`loaded to      ${loadedTo}`)
  if (error !== undefined) lines.push(`error          ${error}`)
  if (lastSwitch !== undefined) {
    const { untilTrafficMs, untilSteadyMs, eventsLoaded, lossWindowMs } = lastSwitch
    const took = `traffic after ${String(untilTrafficMs)} ms, steady after ${String(untilSteadyMs)} ms`
    lines.push(`last switch    ${took}, ${String(eventsLoaded)} events loaded, loss window ${String(lossWindowMs)} ms`)
  }
  return lines
}

export function drillLines({ equal, different, events, ms, eventsPerSecond, mirrorLagMs }: DrillReport): string[] {
  return [
    equal
      ? 'the loaded state is that of the active site'
      : `other rows than on the active site: ${different.join(', ')}`,
    `${events} events in ${ms} ms, ${eventsPerSecond} a second`,
    `mirror ${mirrorLagMs === null ? 'not complete yet' : `${mirrorLagMs} ms behind`}`,
  ]
}
