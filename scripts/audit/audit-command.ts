import { Option } from 'commander'
import type { Command } from 'commander'
import type { OnProgress } from '../../topology/audit/replay-journals.js'
import { EndedBySignal } from '../process/exit-codes.js'
import { progressOn } from '../simulate/progress.js'
import type { Progress } from '../simulate/progress.js'
import { openAudit } from './open-audit.js'
import { shownLine } from './texts.js'
import type { OpenedAudit, SourceFlags } from './open-audit.js'

const endingSignals = ['SIGINT', 'SIGTERM'] as const

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

/**
 * Runs an audit and prints what it finds; answers it, for the exit status. SIGINT or SIGTERM ends it, with nothing left behind; a second
 * one at once.
 */
export async function runAudit<Result>(
  flags: AuditFlags,
  settingsFlags: readonly string[],
  work: (audit: OpenedAudit, onProgress: OnProgress) => Promise<Result>,
  textOf: (result: Result) => readonly string[],
): Promise<Result> {
  const ended = new AbortController()
  const end = (signal: NodeJS.Signals): void => ended.abort(new EndedBySignal(signal))
  for (const signal of endingSignals) process.once(signal, end)
  let audit: OpenedAudit | undefined
  let progress: Progress | undefined
  try {
    audit = await openAudit(flags, settingsFlags, process.env, ended.signal)
    const result = await work(audit, (done, total) => {
      progress ??= progressOn(process.stderr, total, 'records')
      progress.update(done)
    })
    progress?.stop()
    console.log(flags.json === true ? JSON.stringify(result, null, 2) : textOf(result).map(shownLine).join('\n'))
    return result
  } catch (thrown) {
    ended.signal.throwIfAborted()
    throw thrown
  } finally {
    progress?.stop()
    await audit?.close()
    for (const signal of endingSignals) process.off(signal, end)
  }
}

/** The key, where the first argument or what stands behind `--` is one, and the flags that are settings. */
export function keyAndSettings(command: Command): {
  readonly key: string | undefined
  readonly settingsFlags: readonly string[]
} {
  const { args } = command
  const { rawArgs } = rootOf(command)
  const behind = rawArgs.includes('--') ? rawArgs.slice(rawArgs.indexOf('--') + 1) : []
  const before = args.slice(0, args.length - behind.length)
  if (behind.length > 0) return { key: behind[0], settingsFlags: [...before, ...behind.slice(1)] }
  const [first] = args
  const key = first?.startsWith('--') === true ? undefined : first
  return { key, settingsFlags: key === undefined ? args : args.slice(1) }
}

function rootOf(command: Command): Command & { readonly rawArgs: readonly string[] } {
  // Commander keeps it, and does not declare it.
  return command.parent === null ? (command as ReturnType<typeof rootOf>) : rootOf(command.parent)
}

export function byComma(text: string): readonly string[] {
  return text.split(',').filter((part) => part !== '')
}
