import { Command } from 'commander'
import { systemClock } from '../common/clock.js'
import { ensureError } from '../common/errors.js'
import { registerArchive } from './commands/archive.js'
import { registerDiff } from './commands/diff.js'
import { registerDeadLetters } from './commands/dead-letters.js'
import { registerErrors } from './commands/errors.js'
import { registerExplain } from './commands/explain.js'
import { registerPlatforms } from './commands/platforms.js'
import { registerReplay } from './commands/replay.js'
import { registerReset } from './commands/reset.js'
import { registerSchemas } from './commands/schemas.js'
import { registerSettings } from './commands/settings.js'
import { registerSiteCommands } from './commands/site.js'
import { registerSources } from './commands/sources.js'
import { registerStart } from './commands/start.js'
import { registerState } from './commands/state.js'
import { registerTopology } from './commands/topology.js'
import { registerVerify } from './commands/verify.js'
import { registerWhatIf } from './commands/what-if.js'
import { describeExitCodes, exitCodeOf, exitCodes, explain } from './process/exit-codes.js'
import { registerSimulate } from './simulate/command.js'

const program = new Command('pulsefold')
  .description('A liveness engine for telecom networks: trust levels of devices, health of external addresses.')
  // `simulate` has flags of its own that those of `simulate sis` are called like.
  .enablePositionalOptions()
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : exitCodes.misused.code))
  .addHelpText('after', () => `\nExit codes:\n${describeExitCodes()}\n`)

registerStart(program, async (settings, logger, ...rest) => {
  // All that a service is made of: other commands begin sooner without it.
  const { startPulsefold } = await import('./process/pulsefold.js')
  return startPulsefold(settings, logger, systemClock, ...rest)
})
registerSettings(program)
registerTopology(program)
registerErrors(program)
registerArchive(program)
registerReplay(program)
registerState(program)
registerExplain(program)
registerSources(program)
registerSchemas(program)
registerReset(program)
registerPlatforms(program)
registerDeadLetters(program)
registerSiteCommands(program)
registerVerify(program)
registerDiff(program)
registerWhatIf(program)
registerSimulate(program)

// Whoever read the output may have left (`| head`): the exit status is told all the same.
process.stdout.on('error', () => undefined)
try {
  await program.parseAsync()
} catch (thrown) {
  const error = ensureError(thrown)
  console.error(`pulsefold: ${explain(error)}`)
  process.exitCode = exitCodeOf(error)
}
