import type { Command } from 'commander'
import { systemClock } from '../../common/clock.js'
import { ensureError } from '../../common/errors.js'
import { createLogger } from '../../common/logger.js'
import type { Logger } from '../../common/logger.js'
import { loadSettings } from '../../common/settings.js'
import type { LoadedSettings, Settings } from '../../common/settings.js'
import { describeFlags, maskedSettings } from '../../common/settings-text.js'
import { describeExitCodes } from '../process/exit-codes.js'
import { runProcess } from '../process/lifecycle.js'
import type { Service, Start } from '../process/lifecycle.js'
import { nodeHost } from '../process/node-host.js'
import { projectDirectory } from '../project-directory.js'

/** Opens all that runs by these settings; the rest as in `Start`. */
export type StartService = (settings: Settings, logger: Logger, ...rest: Parameters<Start>) => Promise<Service>

/** Runs a service until a signal comes, by the settings of flags, environment and file. With `--help` it tells them. */
export function runStart(flags: readonly string[], startService: StartService): void {
  if (flags.includes('--help') || flags.includes('-h')) {
    console.log(`Usage: ./scripts/start [flags]\n\nFlags:\n${describeFlags()}\n\nExit codes:\n${describeExitCodes()}`)
    return
  }
  const loaded = tryLoad(flags)
  const logger = createLogger(loaded instanceof Error ? 'info' : loaded.settings.logLevel)
  runProcess(nodeHost(), systemClock, logger, async (...rest) => {
    if (loaded instanceof Error) throw loaded
    logger.info({ pid: process.pid, node: process.version, settings: maskedSettings(loaded.settings) }, 'starting')
    return startService(loaded.settings, logger, ...rest)
  })
}

function tryLoad(flags: readonly string[]): LoadedSettings | Error {
  try {
    return loadSettings({ flags, environment: process.env, projectDirectory })
  } catch (error) {
    return ensureError(error)
  }
}

/** Adds `start`, the same as `./scripts/start`. */
export function registerStart(program: Command, startService: StartService): void {
  program
    .command('start')
    .description('run Pulsefold until SIGTERM or SIGINT; flags are settings')
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .action((_options: unknown, command: Command) => runStart(command.args, startService))
}
