import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Command } from 'commander'
import type { Audit } from '../../topology/audit/audit.js'
import { AuditError } from '../../topology/audit/errors.js'
import { parseTime } from '../../topology/audit/moment-text.js'
import { checkArchive } from '../../topology/archive/check-archive.js'
import type { ArchiveCheck } from '../../topology/archive/check-archive.js'
import type { Archived } from '../../topology/archive/archive-writer.js'
import { maskingOf } from '../../topology/archive/mask.js'
import { writeArchive } from '../../topology/archive/write-archive.js'
import { names } from '../../topology/names.js'
import type { Processor } from '../../topology/processor.js'
import { auditCommand, byComma, runAudit } from '../audit/audit-command.js'
import type { AuditFlags } from '../audit/audit-command.js'
import { gapLines, shownLine } from '../audit/texts.js'
import { progressOn } from '../simulate/progress.js'

interface Flags extends AuditFlags {
  readonly keys?: readonly string[]
  readonly fromTime?: number
  readonly toTime?: number
  readonly mask?: readonly string[]
}

interface CheckFlags {
  readonly head?: string
  readonly json?: true
}

/** Adds `archive` and `archive check`. */
export function registerArchive(program: Command): void {
  const archive = auditCommand(
    program,
    'archive <directory>',
    'take journals and seals into an archive, from where it ends on; all audit commands read it with --archive',
  )
    .option('--keys <keys>', 'only the partitions of these keys, by comma', byComma)
    .option('--from-time <time>', 'begin here, with the state of that moment (of a new archive)', parseTime)
    .option('--to-time <time>', 'end here', parseTime)
    .option(
      '--mask <fields>',
      'replace all texts in these fields by pseudonyms, by comma: `Event.field.field`, `*.field` of any event, and of all entries actor, reason, commandId',
      byComma,
    )
    .action(async (directory: string, flags: Flags, command: Command) => {
      const { keys, fromTime, toTime, mask = [], domain: domains } = flags
      if (fromTime !== undefined && toTime !== undefined && fromTime > toTime) {
        throw new AuditError('AUDIT_MOMENT_INVALID', '--from-time is later than --to-time')
      }
      await mkdir(directory, { recursive: true })
      await runAudit(
        flags,
        command.args.slice(1),
        async (audit, onProgress) => {
          const request = { directory, keys, fromTime, toTime, domains, onProgress }
          if (mask.length === 0) return writeArchive(audit, request)
          const masking = maskingOf(
            audit.source.reader,
            journalTopics(audit),
            mask,
            await secretOf(directory),
            audit.peerJournal,
          )
          const masked = [...new Set([...(audit.source.masked ?? []), ...mask])]
          return writeArchive({ ...audit, source: { reader: masking.reader, masked } }, { ...request, masking })
        },
        lines,
      )
    })
  archive
    .command('check <directory>')
    .description(
      'find any byte of an archive that is changed, missing, added or elsewhere; exit status 1 when there is one',
    )
    .option('--head <hash>', 'as `archive` printed it: finds that the newest part was cut off')
    .option('--json', 'print JSON')
    .action(async (directory: string, { head, json }: CheckFlags) => {
      let progress: ReturnType<typeof progressOn> | undefined
      const check = await checkArchive(directory, {
        head,
        onProgress(done, total) {
          progress ??= progressOn(process.stderr, total, 'segments')
          progress.update(done)
        },
      })
      progress?.stop()
      console.log(json === true ? JSON.stringify(check, null, 2) : checkLines(check).map(shownLine).join('\n'))
      process.exitCode = check.isSound ? 0 : 1
    })
}

/** The secret of the pseudonyms stays beside the archive, for the runs to come: who has it can guess texts. */
async function secretOf(directory: string): Promise<Buffer> {
  const path = `${resolve(directory)}.mask-secret`
  if (!existsSync(path)) {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, randomBytes(32).toString('hex'), { mode: 0o600 })
  }
  return Buffer.from((await readFile(path, 'utf8')).trim(), 'hex')
}

function journalTopics({ processors, applicationId }: Audit): ReadonlyMap<string, Processor> {
  return new Map(processors.map((processor) => [names.journal(applicationId, processor.name), processor]))
}

function lines({ segments, records, bytes, head, gaps }: Archived): readonly string[] {
  return [`${segments} segments added: ${records} records, ${bytes} bytes`, `head ${head}`, ...gapLines(gaps)]
}

function checkLines({ isSound, faults, segments, bytes, head, masked }: ArchiveCheck): readonly string[] {
  return [
    `${isSound ? 'sound' : 'NOT SOUND'}: ${segments} segments, ${bytes} bytes`,
    `head ${head}`,
    ...(masked.length === 0 ? [] : [`masked: ${masked.join(', ')}; its digests are not those that were sealed`]),
    ...faults.map((fault) => `FAULT ${fault}`),
  ]
}
