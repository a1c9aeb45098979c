import type { Clock } from '../../../common/clock.js'
import type { Settings } from '../../../common/settings.js'
import type { Effector } from '../../../topology/processor.js'
import { kubernetesPods } from './kubernetes-pods.js'
import { podEffectors } from './pods.js'
import { routingManagerEffectors } from './routing-manager.js'

/** All that keep-alive does to the outside. */
export function keepAliveEffectors(settings: Pick<Settings, 'routingManagerUrl'>, clock: Clock): readonly Effector[] {
  return [...routingManagerEffectors({ clock, url: settings.routingManagerUrl }), ...podEffectors(kubernetesPods())]
}
