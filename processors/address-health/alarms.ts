import { alarmJson } from '../../schemas/address-health/alarm-schema.js'
import type { OutputTopic } from '../../topology/processor.js'
import { forgetAlerts, tellAlertmanager } from './alerts.js'
import type { Alarm, AlarmState } from './alerts.js'
import type { Context } from './context.js'
import { alerts, platforms } from './tables.js'
import type { AddressRow } from './tables.js'

/** Alarms raised and cleared: read as committed records, each stands there once. (address health, section 5) */
export const alarmsTo = (topic: string): OutputTopic => ({ topic, once: true, json: alarmJson })

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
  const { failed, calls } = address
  const alarm = addressAlarm(platform, address)
  emit(alarm.key, state, context, {
    state,
    platform,
    address: address.address,
    position,
    failed,
    calls,
    proportion: failed / calls,
    reason,
    journal: journalOf(context),
    text: alarm.text,
  })
  tellAlertmanager(alarm, state, context)
}

/** The alarm of a platform that has no ACTIVE address any more, but failed ones. */
export function tellPlatformAlarm(platform: string, state: AlarmState, since: number, context: Context): void {
  const alarm = platformAlarm(platform, since)
  emit(alarm.key, state, context, {
    state,
    platform,
    reason: 'NO_ADDRESS',
    journal: journalOf(context),
    text: alarm.text,
  })
  tellAlertmanager(alarm, state, context)
}

/** In a new owner's term Alertmanager may be switched on, and knows of nothing then; or off. */
export function termBegun(context: Context): void {
  if (!context.settings.alertmanager) {
    forgetAlerts(context)
    return
  }
  for (const [name, { addresses, noAddressSince }] of context.resident(platforms)) {
    const standing = addresses.filter(({ state }) => state === 'FAILED').map((address) => addressAlarm(name, address))
    if (noAddressSince !== 0) standing.push(platformAlarm(name, noAddressSince))
    for (const alarm of standing) {
      if (context.get(alerts, alarm.key) === undefined) tellAlertmanager(alarm, 'raised', context)
    }
  }
}

function addressAlarm(platform: string, { id, address, since, failed, calls, raised }: AddressRow): Alarm {
  const text = `${failed} of ${calls} calls failed in an interval; raised ${raised} ${raised === 1 ? 'time' : 'times'}`
  return { key: `${platform}/${id}`, platform, address, since, text }
}

function platformAlarm(platform: string, since: number): Alarm {
  return { key: platform, platform, address: '', since, text: 'no address is active, at least one has failed' }
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
