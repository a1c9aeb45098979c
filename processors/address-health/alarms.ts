import type { OutputTopic } from '../../topology/processor.js'
import { tellAlertmanager } from './alerts.js'
import type { Context } from './context.js'
import type { AddressRow } from './tables.js'

/** Alarms raised and cleared: read as committed records, each stands there once. (address health, section 5) */
export const alarmsTo = (topic: string): OutputTopic => ({ topic, once: true })

export type AlarmState = 'raised' | 'cleared'
/** Why an address's alarm changes; the platform's own has NO_ADDRESS both ways. */
export type AlarmReason = 'THRESHOLD' | 'REPAIRED' | 'MANUAL_REPAIR' | 'DEACTIVATED' | 'REMOVED'

/** The alarm of a FAILED address. `address` as it is while FAILED: its counts are those that raised the alarm. */
export function tellAddressAlarm(
  platform: string,
  position: number,
  address: AddressRow,
  state: AlarmState,
  reason: AlarmReason,
  context: Context,
): void {
  const { failed, calls, raised } = address
  const text = `${failed} of ${calls} calls failed in an interval; raised ${raised} ${raised === 1 ? 'time' : 'times'}`
  const key = `${platform}/${address.id}`
  emit(key, state, context, {
    state,
    platform,
    address: address.address,
    position,
    failed,
    calls,
    proportion: failed / calls,
    reason,
    journal: journalOf(context),
    text,
  })
  tellAlertmanager(key, { platform, address: address.address, state, since: address.since, text }, context)
}

/** The alarm of a platform that has no ACTIVE address any more, but failed ones. */
export function tellPlatformAlarm(platform: string, state: AlarmState, since: number, context: Context): void {
  const text = 'no address is active, at least one has failed'
  emit(platform, state, context, { state, platform, reason: 'NO_ADDRESS', journal: journalOf(context), text })
  tellAlertmanager(platform, { platform, address: '', state, since, text }, context)
}

function journalOf({ partition, position }: Context): { readonly partition: number; readonly offset: number } {
  return { partition, offset: position.offset }
}

function emit(key: string, state: AlarmState, context: Context, data: object): void {
  context.emit(alarmsTo(context.settings.alarmTopic), {
    key,
    value: JSON.stringify(data),
    headers: [
      ['ce_source', 'pulsefold'],
      ['ce_type', 'com.opencloud.sis.address-alarm'],
      ['content-type', 'application/json'],
    ],
  })
  context.count('address_alarms', state)
}
