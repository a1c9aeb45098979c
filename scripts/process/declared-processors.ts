import type { Settings } from '../../common/settings.js'
import { processors } from '../../processors/index.js'
import type { Effector, Processor } from '../../topology/processor.js'

/** Stands where a running service has its ways to the outside, whose clients take a third of a second to load. */
const carriedOutByNobody: Effector = {
  kind: 'none',
  deadlineMs: 0,
  perform: () => Promise.reject(new Error('declared processors carry out nothing')),
}

/** The processors by these settings, for reading what they declare and for folding: nothing of them is carried out. */
export function declaredProcessors(settings: Settings): readonly Processor[] {
  return processors({
    settings,
    dmiHealthCheck: carriedOutByNobody,
    keepAliveEffectors: [],
    alertmanager: carriedOutByNobody,
    random: () => 0,
  })
}
