import { systemClock } from '../common/clock.js'
import { runStart } from './commands/start.js'
import { startPulsefold } from './process/pulsefold.js'

runStart(process.argv.slice(2), (settings, logger, ...rest) => startPulsefold(settings, logger, systemClock, ...rest))
