import type { Command } from 'commander'
import { parseOffset, parsePositions, parseTime } from '../../topology/audit/moment-text.js'
import { replayJournals } from '../../topology/audit/replay-journals.js'
import type { OnProgress, ReplayedJournal } from '../../topology/audit/replay-journals.js'
import { auditCommand, byComma, runAudit } from '../audit/audit-command.js'
import type { AuditFlags } from '../audit/audit-command.js'
import { momentOf } from '../audit/moment-flags.js'
import type { MomentFlags } from '../audit/moment-flags.js'
import type { OpenedAudit } from '../audit/open-audit.js'
import { startReplayThreads } from '../audit/replay-threads.js'
import { gapLines, timeText } from '../audit/texts.js'

interface Flags extends AuditFlags, MomentFlags {
  readonly keys?: readonly string[]
}

/** Adds `replay`. */
export function registerReplay(program: Command): void {
  auditCommand(program, 'replay', 'fold journals anew, from their start, and print the digests of the state')
    .option('--to-time <time>', 'fold what the log had stamped by then', parseTime)
    .option('--to-offset <offset>', 'fold the records of each partition before this one', parseOffset)
    .option('--position <positions>', 'fold up to these positions, as answers carry them', parsePositions)
    .option('--keys <keys>', 'only the partitions of these keys, by comma; prints their rows', byComma)
    .action(async (flags: Flags, command: Command) => {
      const work = async (audit: OpenedAudit, onProgress: OnProgress): Promise<readonly ReplayedJournal[]> => {
        const { domain: domains, keys } = flags
        const request = { domains, keys, until: momentOf(flags), onProgress }
        const threads = await startReplayThreads(audit.log, audit.settings, undefined, flags, audit.signal)
        return replayJournals(audit, { ...request, replayers: threads.replayers }).finally(() => threads.close())
      }
      await runAudit(flags, command.args, work, (replayed) => replayed.flatMap(lines))
    })
}

function lines(one: ReplayedJournal): readonly string[] {
  const at = one.time === 0 ? 'the beginning' : timeText(one.time)
  return [
    `${one.domain}/${one.partition}  offset ${one.offset} (${at})  ${one.entries} entries  digest ${one.digest}`,
    ...(one.from === 0 ? [] : [`  folded from the snapshot at ${one.from} on`]),
    ...Object.entries(one.keys ?? {}).map(([key, rows]) => `  ${key}  ${JSON.stringify(rows)}`),
    ...gapLines(one.gaps, one.unreadable),
  ]
}
