import { systemClock } from '../../common/clock.js'
import { createLogger } from '../../common/logger.js'
import { settingsWith } from '../../common/settings.js'
import type { Settings } from '../../common/settings.js'
import { startPulsefold } from '../process/pulsefold.js'
import type { Pulsefold } from '../process/pulsefold.js'

/** Pulsefold embedded in this process, on any free port; all settings but those given are the defaults. */
export function startService(dataDir: string, settings: Partial<Settings> = {}): Promise<Pulsefold> {
  const chosen = settingsWith({ dataDir, httpPort: 0, logLevel: 'warn', ...settings })
  return startPulsefold(chosen, createLogger(chosen.logLevel), systemClock, (error) => {
    throw error
  })
}
