import type { Clock } from '../../../common/clock.js'
import type { Logger } from '../../../common/logger.js'
import type { Settings } from '../../../common/settings.js'
import type { Effector } from '../../../topology/processor.js'
import { kubernetesPods } from './kubernetes-pods.js'
import { podEffectors } from './pods.js'
import { routingManagerEffectors } from './routing-manager.js'

/** All that keep-alive does to the outside. */
export function keepAliveEffectors(
  { routingManagerUrl }: Pick<Settings, 'routingManagerUrl'>,
  clock: Clock,
  logger: Logger,
): readonly Effector[] {
  return [
    ...routingManagerEffectors({ clock, url: routingManagerUrl }),
    ...podEffectors({ pods: kubernetesPods(), logger }),
  ]
}
