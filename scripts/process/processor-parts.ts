import { userInfo } from 'node:os'
import type { Clock } from '../../common/clock.js'
import type { Logger } from '../../common/logger.js'
import type { PluginAddressPolicy } from '../../common/plugin-address.js'
import type { Settings } from '../../common/settings.js'
import { alertmanager } from '../../processors/address-health/effects/alertmanager.js'
import type { ProcessorParts } from '../../processors/index.js'
import { keepAliveEffectors } from '../../processors/keep-alive/effects/index.js'
import { dmiHealthCheck } from '../../processors/trust-level/effects/dmi-health-check.js'
import { confluentRegistry } from '../../schemas/registry/confluent-registry.js'

const ALERTMANAGER_DEADLINE_MS = 5000

/** What the domains of a running service are made of. */
export function processorParts(
  settings: Settings,
  clock: Clock,
  policy: PluginAddressPolicy,
  logger: Logger,
): ProcessorParts {
  return {
    settings,
    ...(settings.schemaRegistryUrl !== '' && { registry: confluentRegistry(settings.schemaRegistryUrl, clock) }),
    dmiHealthCheck: dmiHealthCheck({
      clock,
      healthPaths: settings.dmiHealthPaths,
      deadlineMs: settings.dmiHealthDeadlineMs,
      username: settings.dmiUsername,
      password: settings.dmiPassword,
      policy,
    }),
    keepAliveEffectors: keepAliveEffectors(settings, clock, logger),
    alertmanager: alertmanager({ clock, url: settings.alertmanagerUrl, deadlineMs: ALERTMANAGER_DEADLINE_MS }),
    settingsBy: settingsBy(settings),
    random: Math.random,
  }
}

function settingsBy({ settingsActor, settingsReason }: Settings): NonNullable<ProcessorParts['settingsBy']> {
  const actor = settingsActor === '' ? operatingUser() : settingsActor
  return { actor, ...(settingsReason !== '' && { reason: settingsReason }) }
}

/** In a container the user may have no name. */
function operatingUser(): string {
  try {
    return userInfo().username
  } catch {
    return 'unknown'
  }
}
