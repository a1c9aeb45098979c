import { noticeJson } from '../../schemas/trust-level/notice-schema.js'
import { TRUST_LEVELS } from '../../schemas/trust-level/journal-events.js'
import type { TrustLevel } from '../../schemas/trust-level/journal-events.js'
import type { OutputTopic } from '../../topology/processor.js'
import type { Context } from './context.js'

/** What made an effective level change; header `ce_cause`, an extension. */
export type NoticeCause = 'heartbeat' | 'plugin' | 'registration'

/** Effective changes of level, as NCMP's attribute value changes. (trust levels, section 3) */
export const noticesTo = (topic: string): OutputTopic => ({ topic, once: true, json: noticeJson })

/** The whole payload is compared by clients: order and spacing count. */
function payload(from: TrustLevel | null, to: TrustLevel): string {
  const old = from === null ? '' : `"oldAttributeValue":"${from}",`
  return `{"data":{"attributeValueChange":[{"attributeName":"trustLevel",${old}"newAttributeValue":"${to}"}]}}`
}

const PAYLOADS = new Map(
  [null, ...TRUST_LEVELS].map((from) => [from, new Map(TRUST_LEVELS.map((to) => [to, payload(from, to)]))]),
)

const SOURCE = ['ce_source', 'NCMP'] as const
const TYPE = ['ce_type', 'org.onap.cps.ncmp.events.avc.ncmp_to_client.AvcEvent'] as const
const SCHEMA = ['ce_dataschema', noticeJson.$id] as const
const CONTENT = ['content-type', 'application/json'] as const
const CAUSES = {
  heartbeat: ['ce_cause', 'heartbeat'],
  plugin: ['ce_cause', 'plugin'],
  registration: ['ce_cause', 'registration'],
} as const

/** Tells the outside of a change, unless notices are off. `from` null: the handle has just been registered. */
export function announce(
  context: Context,
  cmHandle: string,
  from: TrustLevel | null,
  to: TrustLevel,
  cause: NoticeCause,
): void {
  const { trustLevelNotices, trustLevelNoticeTopic } = context.settings
  context.because('the effective level changes', { from, to, cause })
  if (!trustLevelNotices) return
  context.emit(noticesTo(trustLevelNoticeTopic), {
    key: cmHandle,
    value: PAYLOADS.get(from)?.get(to) ?? payload(from, to),
    headers: [SOURCE, TYPE, SCHEMA, ['ce_correlationid', cmHandle], CONTENT, CAUSES[cause]],
  })
  context.count('notices', cause)
}
