import type { Command } from 'commander'
import type { KeptVerdict } from '../../topology/audit/kept-verdict.js'
import { verify } from '../../topology/audit/verify.js'
import type { Verification } from '../../topology/audit/verify.js'
import { auditCommand, runAudit } from '../audit/audit-command.js'
import type { AuditFlags } from '../audit/audit-command.js'
import { storedName } from '../audit/audited-processors.js'
import { openTaskStoreReader } from '../audit/embedded-reader.js'
import { gapLines, timeText } from '../audit/texts.js'

/** Adds `verify`; its exit status is 1 when something differs, 2 when nothing can be said. */
export function registerVerify(program: Command): void {
  auditCommand(
    program,
    'verify',
    'fold journals anew and compare with what was sealed, with the changelogs, and with the stores where they can be read',
  )
    .addHelpText(
      'after',
      '\nExit status: 0 all is equal, 1 something differs, 2 nothing can be said (see the lines with GAP).',
    )
    .action(async (flags: AuditFlags, command: Command) => {
      const verified = await runAudit(
        flags,
        command.args,
        async (audit, onProgress) =>
          verify(audit, {
            copies: await audit.copies?.(),
            domains: flags.domain,
            onProgress,
            // Of one that runs the stores are locked: by --url it tells their digests itself.
            ...(audit.isOfSettings && {
              openTaskStore: (name: string) => openTaskStoreReader(audit.settings.dataDir, storedName(name)),
            }),
          }),
        (found) => found.flatMap(lines),
      )
      const verdicts = verified.map(({ verdict }) => verdict)
      process.exitCode = verdicts.includes('different') ? 1 : verdicts.includes('unknown') ? 2 : 0
    })
}

function lines({
  domain,
  partition,
  verdict,
  from,
  notVerified,
  seals,
  kept,
  ...told
}: Verification): readonly string[] {
  const { compared, ofOtherVersions, firstDifference } = seals
  const other = ofOtherVersions === 0 ? '' : ` (${ofOtherVersions} more are of other fold versions)`
  const states = kept.map(({ name, offset, isEqual }) => `${name} at ${offset} ${verdictText(isEqual)}`)
  return [
    `${domain}/${partition}  ${verdict.toUpperCase()}  ${[`${compared} seals compared${other}`, ...states].join(', ')}`,
    ...(from === 0 ? [] : [`  folded from the snapshot at ${from} on`]),
    ...(firstDifference === null
      ? []
      : [
          `  differs first in records ${firstDifference.from} to ${firstDifference.to - 1}, sealed at ${timeText(firstDifference.seal.sealedAt)}`,
          `    sealed ${firstDifference.seal.rows}`,
          `    folded ${firstDifference.ofJournal}`,
          ...firstDifference.changes.map(
            ({ offset, index, row, after }) =>
              `    the journal at ${offset}:${index} makes ${row} ${JSON.stringify(after ?? null)}`,
          ),
        ]),
    ...kept.flatMap(keptLines),
    ...notVerified.map((one) => `  NOT VERIFIED the states at ${one.from} to ${one.to}: ${one.why}`),
    ...gapLines(told.gaps, told.unreadable),
  ]
}

function verdictText(isEqual: KeptVerdict['isEqual']): string {
  if (isEqual === null) return 'has the rows that it sealed'
  return isEqual ? 'equal' : 'DIFFERS'
}

function keptLines({ name, sealed, ofRows, ofJournal, isEqual, differences }: KeptVerdict): readonly string[] {
  if (isEqual !== false) return []
  const at = (change: (typeof differences)[number]['lastChange']): string =>
    change === null ? '' : ` (last changed at ${change.offset}:${change.index})`
  return [
    ...(ofRows === null || ofRows === sealed
      ? []
      : [`  the rows of the ${name} are not those that it sealed: ${ofRows}, sealed ${sealed}`]),
    ...(ofJournal === null || sealed === ofJournal
      ? []
      : [`  the ${name} sealed ${sealed}, the journal gives ${ofJournal}`]),
    ...differences.map(
      ({ table, key, a, b, lastChange }) =>
        `  ${table}/${key}: ${name} ${JSON.stringify(a ?? null)}, journal ${JSON.stringify(b ?? null)}${at(lastChange)}`,
    ),
  ]
}
