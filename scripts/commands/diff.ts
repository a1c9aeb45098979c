import type { Command } from 'commander'
import { diffStates } from '../../topology/audit/diff-states.js'
import type { PartitionDiff } from '../../topology/audit/diff-states.js'
import { parseMoment } from '../../topology/audit/moment-text.js'
import { numberFrom } from '../simulate/command-line.js'
import { auditCommand, byComma, runAudit } from '../audit/audit-command.js'
import type { AuditFlags } from '../audit/audit-command.js'
import { openAudit } from '../audit/open-audit.js'
import { flatText, gapLines, repeatedOnce } from '../audit/texts.js'

interface Flags extends AuditFlags {
  readonly withUrl?: string
  readonly withDataDir?: string
  readonly keys?: readonly string[]
  readonly limit: number
}

/** Adds `diff`; its exit status is 1 when something differs. */
export function registerDiff(program: Command): void {
  auditCommand(program, 'diff <a> <b>', 'rows that differ between two moments: a time, positions, or `end`')
    .option(
      '--with-url <url>',
      'the second moment is of the Pulsefold at this address; journal positions then do not count',
    )
    .option('--with-data-dir <directory>', 'the same of the log in this data directory')
    .option('--keys <keys>', 'only the partitions of these keys, by comma', byComma)
    .option('--limit <rows>', 'most rows told of a partition', numberFrom(0, 1_000_000, true), 100)
    .action(async (first: string, second: string, flags: Flags, command: Command) => {
      const settingsFlags = command.args.slice(2)
      const { withUrl, withDataDir, limit, domain: domains, keys } = flags
      const isOther = withUrl !== undefined || withDataDir !== undefined
      const diffs = await runAudit(
        flags,
        settingsFlags,
        async (audit, onProgress) => {
          const other = isOther
            ? await openAudit(
                {
                  ...(withUrl !== undefined && { url: withUrl }),
                  ...(flags.token !== undefined && { token: flags.token }),
                },
                withDataDir === undefined
                  ? settingsFlags
                  : [...settingsFlags, '--kafka-brokers', '', '--data-dir', withDataDir],
                process.env,
                audit.signal,
              )
            : audit
          try {
            const a = { audit, until: parseMoment(first) }
            const b = { audit: other, until: parseMoment(second) }
            return await diffStates({ a, b, limit, domains, keys, ignorePositions: isOther, onProgress })
          } finally {
            if (isOther) await other.close()
          }
        },
        (found) => found.flatMap(lines),
      )
      process.exitCode = diffs.some(({ a, b }) => a.digest !== b.digest) ? 1 : 0
    })
}

function lines({ domain, partition, a, b, rows, hasMore, gaps, unreadable }: PartitionDiff): readonly string[] {
  const head = `${domain}/${partition}  offset ${a.offset} → ${b.offset}  ${a.digest === b.digest ? 'equal' : 'different'}`
  return [
    head,
    ...rows.flatMap((row) => [
      `  ${row.table}/${row.key}: ${changed(row.a, row.b)}`,
      ...(row.why === null ? [] : [`    at ${row.why.offset}:${row.why.index}`]),
      ...repeatedOnce((row.why?.rules ?? []).map(({ rule, compared }) => `    because ${rule}: ${flatText(compared)}`)),
    ]),
    ...(hasMore ? ['  and more: --limit'] : []),
    ...gapLines(gaps, unreadable),
  ]
}

/** The members that changed, or all of a row that came or went. */
function changed(a: unknown, b: unknown): string {
  if (a === undefined || b === undefined) return `${JSON.stringify(a ?? null)} → ${JSON.stringify(b ?? null)}`
  const [before, after] = [a as Record<string, unknown>, b as Record<string, unknown>]
  const members = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const names = members.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
  return names.map((name) => `${name} ${JSON.stringify(before[name])} → ${JSON.stringify(after[name])}`).join(', ')
}
