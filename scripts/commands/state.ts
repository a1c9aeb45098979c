import { InvalidArgumentError } from 'commander'
import type { Command } from 'commander'
import { parsePositions, parseTime } from '../../topology/audit/moment-text.js'
import type { SubjectState } from '../../topology/audit/rows.js'
import { stateAt } from '../../topology/audit/state-at.js'
import type { PartitionState, Question, StateAt } from '../../topology/audit/state-at.js'
import { auditCommand, keyAndSettings, runAudit } from '../audit/audit-command.js'
import type { AuditFlags } from '../audit/audit-command.js'
import { momentOf } from '../audit/moment-flags.js'
import type { MomentFlags } from '../audit/moment-flags.js'
import { flatText, gapLines, timeText, workText } from '../audit/texts.js'

interface Flags extends AuditFlags, Pick<MomentFlags, 'position'> {
  readonly at?: number
  readonly query?: string
  readonly args: unknown
  readonly all?: true
}

/** Adds `state`. */
export function registerState(program: Command): void {
  auditCommand(
    program,
    'state [key]',
    'what was true of a key (a query, a whole store) at a moment, and what we answered then',
  )
    .option('--at <time>', 'the moment (default: now)', parseTime)
    .option('--position <positions>', 'the positions that an answer carried', parsePositions)
    .option('--query <name>', 'ask a query of the domain, of every partition')
    .option('--args <json>', 'its arguments', parseJson, {})
    .option('--all', 'all rows')
    .action(async (_key: string | undefined, flags: Flags, command: Command) => {
      const { key, settingsFlags } = keyAndSettings(command)
      const at = momentOf({ ...flags, ...(flags.at !== undefined && { toTime: flags.at }) })
      const question = questionOf(key, flags) ?? command.error('error: name a key, or --query, or --all')
      await runAudit(
        flags,
        settingsFlags,
        (audit, onProgress) => stateAt(audit, { question, at, domains: flags.domain, onProgress }),
        (state) => lines(state, question),
      )
    })
}

function questionOf(key: string | undefined, { query, args, all }: Flags): Question | undefined {
  if (query !== undefined) return { kind: 'query', name: query, args }
  if (all === true) return { kind: 'all' }
  return key === undefined ? undefined : { kind: 'subject', subject: key }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new InvalidArgumentError('Not JSON.')
  }
}

function lines({ wasTrue, weAnswered }: StateAt, question: Question): readonly string[] {
  const truths = (wasTrue ?? []).flatMap((state) => stateLines('was true', state, question))
  const answers = weAnswered.flatMap((state) => [
    ...stateLines('we answered', state, question),
    ...(state.seal === undefined
      ? []
      : [`            sealed at ${timeText(state.seal.sealedAt)} as ${state.seal.rows}`]),
  ])
  return [...truths, ...answers]
}

function stateLines(what: string, state: PartitionState, question: Question): readonly string[] {
  const { domain, partition, offset, folded, result } = state
  const head = `${what.padEnd(11)} ${domain}/${partition} as of offset ${offset}, ${workText(folded)}: `
  const gaps = gapLines(state.gaps, state.unreadable)
  if (question.kind !== 'subject') return [head, ...JSON.stringify(result, null, 2).split('\n'), ...gaps]
  const { state: short, rows } = result as SubjectState
  const rest = Object.entries(rows).map(
    ([name, row]) => `            ${name}  ${flatText(row as Record<string, unknown>)}`,
  )
  return [head + flatText(short), ...rest, ...gaps]
}
