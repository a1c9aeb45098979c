import type { NodebView, RanView } from '../../processors/keep-alive/views.js'
import { configurationWithoutZeros, withoutZeros } from './json.js'

/** Nanoseconds as protobuf's JSON writes 64-bit values: a text; absent where never. */
function nanoseconds(ms: number): string | undefined {
  return ms === 0 ? undefined : `${ms}000000`
}

/** A RAN in the list of states. (E2 Manager: NbIdentity) */
export function nbIdentity({ ranName, plmnId, nbId, state, healthAskedAt, healthAnsweredAt }: RanView): unknown {
  return withoutZeros({
    inventoryName: ranName,
    globalNbId: { plmnId, nbId },
    connectionStatus: state,
    healthCheckTimestampSent: nanoseconds(healthAskedAt),
    healthCheckTimestampReceived: nanoseconds(healthAnsweredAt),
  })
}

/** All about a RAN. (E2 Manager: NodebInfo) */
export function nodebInfo({ ran, nodeb }: NodebView): unknown {
  const configuration = configurationWithoutZeros(JSON.parse(nodeb.configuration))
  return withoutZeros({
    ranName: ran.ranName,
    ip: nodeb.ip,
    port: nodeb.port,
    connectionStatus: ran.state,
    globalNbId: { plmnId: ran.plmnId, nbId: ran.nbId },
    nodeType: nodeb.nodeType,
    ...(nodeb.nodeType === 'ENB' ? { enb: configuration } : { gnb: configuration }),
    associatedE2tInstanceAddress: ran.e2tAddress,
    setupFromNetwork: nodeb.setupFromNetwork,
    statusUpdateTimeStamp: nanoseconds(ran.stateChangedAt),
  })
}
