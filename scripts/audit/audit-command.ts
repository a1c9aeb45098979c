import { Option } from 'commander'
import type { Command } from 'commander'
import type { OnProgress } from '../../topology/audit/replay-journals.js'
import { progressOn } from '../simulate/progress.js'
import type { Progress } from '../simulate/progress.js'
import { openAudit } from './open-audit.js'
import type { OpenedAudit, SourceFlags } from './open-audit.js'

/** Flags that every audit command has. */
export interface AuditFlags extends SourceFlags {
  readonly domain?: readonly string[]
  readonly json?: true
}

/** A command that reads journals; `usage` is its name and arguments. What it does not know of its flags are settings. */
export function auditCommand(program: Command, usage: string, description: string): Command {
  return program
    .command(usage)
    .description(`${description}; takes the flags of \`start\` besides`)
    .option('--url <url>', 'read the journals of the running Pulsefold at this address (default: the log in dataDir)')
    .addOption(new Option('--archive <directory>', 'read the journals in this archive').conflicts(['url', 'history']))
    .option('--history <directory>', 'read from this archive what the log no longer has, and begin at its snapshots')
    .option('--token <token>', 'its auditToken (default: that of the settings)')
    .option('--domain <names>', 'only these domains, by comma', byComma)
    .option('--json', 'print JSON')
    .allowUnknownOption()
    .allowExcessArguments()
}

/** Runs an audit and prints what it finds; answers it, for the exit status. */
export async function runAudit<Result>(
  flags: AuditFlags,
  settingsFlags: readonly string[],
  work: (audit: OpenedAudit, onProgress: OnProgress) => Promise<Result>,
  textOf: (result: Result) => readonly string[],
): Promise<Result> {
  const audit = await openAudit(flags, settingsFlags, process.env)
  let progress: Progress | undefined
  try {
    const result = await work(audit, (done, total) => {
      progress ??= progressOn(process.stderr, total, 'records')
      progress.update(done)
    })
    progress?.stop()
    console.log(flags.json === true ? JSON.stringify(result, null, 2) : textOf(result).join('\n'))
    return result
  } finally {
    progress?.stop()
    await audit.close()
  }
}

/** The key, where the first argument is one, and the flags that are settings. */
export function keyAndSettings({ args }: Command): {
  readonly key: string | undefined
  readonly settingsFlags: readonly string[]
} {
  const [first] = args
  const key = first?.startsWith('--') === true ? undefined : first
  return { key, settingsFlags: key === undefined ? args : args.slice(1) }
}

export function byComma(text: string): readonly string[] {
  return text.split(',').filter((part) => part !== '')
}
