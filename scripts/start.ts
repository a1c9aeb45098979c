import { systemClock } from '../common/clock.js'
import { createLogger } from '../common/logger.js'
import { loadSettings, SettingsError } from '../common/settings.js'
import { exitCodes } from './process/exit-codes.js'
import { runProcess } from './process/lifecycle.js'
import { nodeHost } from './process/node-host.js'
import { startPulsefold } from './process/pulsefold.js'
import { projectDirectory } from './project-directory.js'

/** The main program: settings from file, environment and flags, then the service until it is told to stop. */
function main(): void {
  const host = nodeHost()
  try {
    const flags = process.argv.slice(2)
    const { settings } = loadSettings({ flags, environment: process.env, projectDirectory })
    const logger = createLogger(settings.logLevel)
    runProcess(host, systemClock, logger, (fail) => startPulsefold(settings, logger, systemClock, fail))
  } catch (thrown) {
    if (!(thrown instanceof SettingsError)) throw thrown
    createLogger('info').fatal({ err: thrown }, 'the settings are wrong')
    host.print(`Pulsefold cannot start: ${thrown.message}`)
    host.exit(exitCodes.misconfigured.code)
  }
}

main()
