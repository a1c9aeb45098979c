import { upstreamTime } from '../../schemas/trust-level/upstream-time.js'
import type { CmHandleView, TrustEvidence } from '../../processors/trust-level/views.js'

/** Upstream's JSON shapes; members that are undefined are left out of the JSON. (trust levels, section 1.4) */

export interface CompositeState {
  readonly cmHandleState: 'READY'
  readonly lastUpdateTime: string
  readonly dataSyncEnabled: boolean
  readonly dataSyncState: { readonly operational: { readonly syncState: 'NONE_REQUESTED' | 'UNSYNCHRONIZED' } }
}

export function compositeState(view: CmHandleView): CompositeState {
  return {
    cmHandleState: 'READY',
    lastUpdateTime: upstreamTime(view.lastUpdateTime),
    dataSyncEnabled: view.dataSyncEnabled,
    dataSyncState: { operational: { syncState: view.dataSyncEnabled ? 'UNSYNCHRONIZED' : 'NONE_REQUESTED' } },
  }
}

/** RestOutputCmHandle; `cmHandleProperties` only where asked for, and never on the northbound side. */
export function restOutputCmHandle(view: CmHandleView, withAdditionalProperties = false): object {
  return {
    cmHandle: view.cmHandle,
    publicCmHandleProperties: [view.publicProperties],
    cmHandleProperties: withAdditionalProperties ? view.additionalProperties : undefined,
    state: compositeState(view),
    trustLevel: view.trustLevel,
    moduleSetTag: view.moduleSetTag,
    alternateId: view.alternateId,
    dataProducerIdentifier: view.dataProducerIdentifier,
    cmHandleStatus: view.cmHandleStatus,
  }
}

/** The lightweight handle of the v2 paths; `dmiProperties` is JSON in a string. */
export function lightweightCmHandle(view: CmHandleView, withAdditionalProperties = false): object {
  return {
    cmHandle: view.cmHandle,
    alternateId: view.alternateId,
    cmHandleStatus: view.cmHandleStatus,
    moduleSetTag: view.moduleSetTag,
    dataProducerIdentifier: view.dataProducerIdentifier,
    trustLevel: view.trustLevel,
    dmiProperties: withAdditionalProperties ? JSON.stringify(view.additionalProperties) : undefined,
  }
}

/** The public properties as upstream wraps them: an array of exactly one object. */
export function publicProperties(view: CmHandleView): { readonly publicCmHandleProperties: readonly [object] } {
  return { publicCmHandleProperties: [view.publicProperties] }
}

/** The evidence block, an extension; what is not known is left out, as everything null on this surface. */
export function trustEvidence(evidence: TrustEvidence): object {
  return {
    ...(evidence.ownLevel !== null && { ownLevel: evidence.ownLevel }),
    ...(evidence.ownSince !== null && { ownSince: isoTime(evidence.ownSince) }),
    plugin: evidence.plugin,
    ...(evidence.pluginLevel !== null && { pluginLevel: evidence.pluginLevel }),
    ...(evidence.pluginSince !== null && { pluginSince: isoTime(evidence.pluginSince) }),
    ...(evidence.lastHeartbeat !== null && { lastHeartbeat: isoTime(evidence.lastHeartbeat) }),
    ...(evidence.decidedBy !== null && { decidedBy: evidence.decidedBy }),
  }
}

/** RFC 3339 in UTC. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}
