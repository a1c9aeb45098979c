import { systemClock } from '../../common/clock.js'
import { silentLogger } from '../../common/logger.js'
import { pluginAddressPolicy } from '../../common/plugin-address.js'
import type { Settings } from '../../common/settings.js'
import { processors } from '../../processors/index.js'
import type { Processor } from '../../topology/processor.js'
import { processorParts } from './processor-parts.js'

/** The processors by these settings, for reading what they declare and for folding: nothing of them is carried out. */
export function declaredProcessors(settings: Settings): readonly Processor[] {
  return processors(processorParts(settings, systemClock, pluginAddressPolicy(settings, []), silentLogger()))
}
