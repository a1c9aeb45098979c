import { systemClock } from '../../common/clock.js'
import { pluginAddressPolicy } from '../../common/plugin-address.js'
import type { Settings } from '../../common/settings.js'
import { processors } from '../../processors/index.js'
import { keepAliveEffectors } from '../../processors/keep-alive/effects/index.js'
import { dmiHealthCheck } from '../../processors/trust-level/effects/dmi-health-check.js'
import type { Processor } from '../../topology/processor.js'

/** The processors by these settings, for reading what they declare and for folding: nothing of them is carried out. */
export function declaredProcessors(settings: Settings): readonly Processor[] {
  const check = dmiHealthCheck({
    clock: systemClock,
    healthPaths: settings.dmiHealthPaths,
    deadlineMs: settings.dmiHealthDeadlineMs,
    username: settings.dmiUsername,
    password: settings.dmiPassword,
    policy: pluginAddressPolicy(settings, []),
  })
  return processors({
    settings,
    dmiHealthCheck: check,
    keepAliveEffectors: keepAliveEffectors(settings, systemClock),
  })
}
