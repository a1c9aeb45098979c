import { InvalidArgumentError } from 'commander'
import type { Command } from 'commander'
import { parseTime } from '../../topology/audit/moment-text.js'
import type { Send } from '../../topology/audit/send-differences.js'
import type { TransitionDifference, TransitionTotals } from '../../topology/audit/transitions.js'
import { whatIf } from '../../topology/audit/what-if.js'
import type { WhatIf } from '../../topology/audit/what-if.js'
import { auditCommand, runAudit } from '../audit/audit-command.js'
import type { AuditFlags } from '../audit/audit-command.js'
import { momentOf } from '../audit/moment-flags.js'
import type { MomentFlags } from '../audit/moment-flags.js'
import { parameterValues, settingValues } from '../audit/set-values.js'
import { gapLines, timeText } from '../audit/texts.js'

interface Flags extends AuditFlags, Pick<MomentFlags, 'toTime'> {
  readonly set: Readonly<Record<string, unknown>>
  readonly fromTime?: number
}

const MAX_LINES = 50

/** Adds `what-if`. */
export function registerWhatIf(program: Command): void {
  auditCommand(
    program,
    'what-if',
    'what other settings would have made of the same journals: outputs and effects that differ',
  )
    .requiredOption('--set <name=value>', 'a setting that folds read; may be given again', addSetting, {})
    .option('--from-time <time>', 'compare from here on', parseTime)
    .option('--to-time <time>', 'fold what the log had stamped by then', parseTime)
    .action(async (flags: Flags, command: Command) => {
      const { set, fromTime, domain: domains } = flags
      await runAudit(
        flags,
        command.args,
        (audit, onProgress) =>
          whatIf(audit, {
            set: { ...set, ...parameterValues(set) },
            valuesOf: settingValues(audit.settings),
            domains,
            onProgress,
            until: momentOf(flags),
            ...(fromTime !== undefined && { from: fromTime }),
          }),
        lines,
      )
    })
}

function addSetting(text: string, set: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const [, name, value = ''] = /^([A-Za-z]\w*)=(.*)$/s.exec(text) ?? []
  if (name === undefined) throw new InvalidArgumentError('Not name=value.')
  return { ...set, [name]: jsonOrText(value) }
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function lines({ settings, totals, differences, limits, gaps, unreadable }: WhatIf): readonly string[] {
  const { requestsUnanswered, sendsFoldedThough, sendsNotFolded, ...own } = limits
  return [
    ...Object.entries(settings).map(
      ([name, { before, after }]) => `${name}: ${JSON.stringify(before)} → ${JSON.stringify(after)}`,
    ),
    '',
    ...totals.map(totalLine),
    '',
    ...differences.slice(0, MAX_LINES).map(differenceLine),
    ...(differences.length > MAX_LINES ? [`and ${differences.length - MAX_LINES} more: --json`] : []),
    '',
    ...own.snapshots.map(({ domain, partition, offset }) => {
      return `${domain}/${partition} is folded from the snapshot at ${offset} on: what was set before is as recorded.`
    }),
    `Not in the journals: ${own.timersAdded} timers that fired, ${own.acknowledgementsAdded} outputs that the log took, ${own.intakesAdded} times that inputs were taken in (as late as recorded before).`,
    ...(own.acknowledgementsDropped === 0
      ? []
      : [`Left out: ${own.acknowledgementsDropped} acknowledgements of outputs that were not made.`]),
    ...(requestsUnanswered === 0 ? [] : [`${requestsUnanswered} effects got no result: the journals have none.`]),
    ...sendLines('would not have been sent, and was folded where it was sent to', sendsFoldedThough),
    ...sendLines('would have been sent, and was not folded where it would have been sent to', sendsNotFolded),
    ...gapLines(gaps, unreadable),
  ]
}

function sendLines(what: string, sends: readonly Send[]): readonly string[] {
  return [
    ...sends.slice(0, MAX_LINES).map(({ domain, partition, offset, index, time, key, type }) => {
      const to = key === null ? 'every partition' : `the partition of ${key}`
      return `NOT REPLAYED ${domain}/${partition}/${offset}:${index} ${timeText(time)} ${type} to ${to} ${what}`
    }),
    ...(sends.length > MAX_LINES ? [`and ${sends.length - MAX_LINES} more: --json`] : []),
  ]
}

function totalLine({ channel, value, before, after, earlier, later, meanShiftMs }: TransitionTotals): string {
  const moved =
    earlier + later === 0 ? '' : `; ${earlier} earlier, ${later} later, by ${Math.round(meanShiftMs)} ms on average`
  return `${channel}  ${before} → ${after}${moved}  ${value}`
}

function differenceLine({ channel, key, value, before, after }: TransitionDifference): string {
  const time = (ms: number | null): string => (ms === null ? 'not made' : timeText(ms))
  return `${key}  ${time(before)} → ${time(after)}  ${channel} ${value}`
}
