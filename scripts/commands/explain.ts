import type { Command } from 'commander'
import { explain } from '../../topology/audit/explain.js'
import type { Explanation } from '../../topology/audit/explain.js'
import { parsePositions, parseTime } from '../../topology/audit/moment-text.js'
import type { Step, Term } from '../../topology/audit/steps.js'
import type { SettingsChange } from '../../topology/task/settings-change.js'
import { numberFrom } from '../simulate/command-line.js'
import { auditCommand, keyAndSettings, runAudit } from '../audit/audit-command.js'
import type { AuditFlags } from '../audit/audit-command.js'
import { momentOf } from '../audit/moment-flags.js'
import type { MomentFlags } from '../audit/moment-flags.js'
import { flatText, gapLines, repeatedOnce, timeText, valueText, workText } from '../audit/texts.js'

interface Flags extends AuditFlags, Pick<MomentFlags, 'position'> {
  readonly at?: number
  readonly limit: number
  readonly every: boolean
}

/** Adds `explain`. */
export function registerExplain(program: Command): void {
  auditCommand(program, 'explain <key>', 'the records that led to the state of a key, with the rules that fired')
    .option('--at <time>', 'up to what the log had stamped by then (default: now)', parseTime)
    .option('--position <positions>', 'up to the positions that an answer carried', parsePositions)
    .option('--limit <steps>', 'newest steps to tell', numberFrom(0, 1_000_000, true), 4)
    .option('--every', 'also steps that changed nothing of the state', false)
    .action(async (_key: string, flags: Flags, command: Command) => {
      const { key = '', settingsFlags } = keyAndSettings(command)
      const at = momentOf({ ...flags, ...(flags.at !== undefined && { toTime: flags.at }) })
      const { limit, every, domain: domains } = flags
      await runAudit(
        flags,
        settingsFlags,
        (audit, onProgress) => explain(audit, { subject: key, at, limit, every, domains, onProgress }),
        (explained) => explained.flatMap(lines),
      )
    })
}

function lines({ subject, domain, partition, offset, state, ...told }: Explanation): readonly string[] {
  const { folded, steps, leftOut, hasEarlier, terms, gaps, unreadable } = told
  return [
    `${subject}: ${flatText(state)}`,
    `in ${domain}/${partition} as of offset ${offset}, ${workText(folded)}`,
    ...(hasEarlier ? ['(older steps are left out: --limit)'] : []),
    ...(leftOut > 0 ? [`(${leftOut} steps that changed nothing of this are left out: --every)`] : []),
    ...steps.flatMap(stepLines),
    '',
    ...terms.flatMap(termLines),
    ...gapLines(gaps, unreadable),
  ]
}

function stepLines(step: Step): readonly string[] {
  const { topic, partition, offset, index, timestamp, time, what, source, producer, actor, reason, outcome } = step
  const by = [producer, actor].filter((name) => name !== undefined).join(', ')
  const own = time === timestamp ? '' : ` (its own time ${timeText(time)})`
  return [
    '',
    `${topic}/${partition}/${offset}${index === 0 ? '' : `:${index}`}  ${timeText(timestamp)}  ${what}${own}`,
    `  from ${source.source} ${source.offset}${by === '' ? '' : ` by ${by}`}${reason === undefined ? '' : `: ${reason}`}`,
    ...(outcome === 'folded' ? [] : [`  ${outcome}: it changes nothing`]),
    ...repeatedOnce(step.rules.map(({ rule, compared }) => `  because ${rule}: ${flatText(compared)}`)),
    `  ${changeText(step)}`,
  ]
}

function changeText({ before, after, changes }: Step): string {
  if (JSON.stringify(before) === JSON.stringify(after)) {
    return changes.length === 0 ? 'no change' : `no change but in ${changes.map(({ row }) => row).join(', ')}`
  }
  if (before === null || after === null) return `${flatText(before)} → ${flatText(after)}`
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
  return changed.map((name) => `${name} ${valueText(name, before[name])} → ${valueText(name, after[name])}`).join(', ')
}

function termLines({ since, epoch, foldVersion, settings, settingsChange }: Term): readonly string[] {
  const values = flatText(settings as Readonly<Record<string, unknown>> | null)
  const line = `settings from offset ${since} on (epoch ${epoch}, fold version ${foldVersion}): ${values}`
  return settingsChange === null ? [line] : [line, `  ${changeOfSettings(settingsChange)}`]
}

function changeOfSettings({ offset, timestamp, actor, reason, changed }: SettingsChange): string {
  const changes = Object.entries(changed).map(([name, { before, after }]) => {
    return `${name} ${valueText(name, before)} → ${valueText(name, after)}`
  })
  const by = `by ${actor ?? 'nobody named'}${reason === null ? '' : `: ${reason}`}`
  return `set at offset ${offset}, ${timeText(timestamp)}, ${by}; ${changes.length === 0 ? 'the first' : changes.join(', ')}`
}
