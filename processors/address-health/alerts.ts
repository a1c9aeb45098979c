import type { AlarmPosted } from '../../schemas/address-health/journal-events.js'
import type { Context } from './context.js'
import { alertDeadline } from './deadlines.js'
import { ALERTMANAGER_POST } from './effects/alertmanager-request.js'
import type { AlertmanagerRequest } from './effects/alertmanager-request.js'
import { alerts } from './tables.js'
import type { AlertRow } from './tables.js'

/** After a post that failed it is tried again. */
const RETRY_MS = 5000
/** An alarm is told again before Alertmanager takes it as ended, with some room for posts that fail. */
const REPEATS_OF_A_LIFE = 4

export type AlarmState = 'raised' | 'cleared'

/** What Alertmanager is told of an alarm. */
export interface Alarm {
  readonly key: string
  readonly platform: string
  /** Empty: the platform's own. */
  readonly address: string
  /** Journal time since which it stands or stood. */
  readonly since: number
  readonly text: string
}

/** Has Alertmanager told of the newest state of an alarm; what was owed of it before is withdrawn. Nothing when it is off. */
export function tellAlertmanager({ key, since, ...alarm }: Alarm, state: AlarmState, context: Context): void {
  const before = context.get(alerts, key)
  if (before !== undefined) forget(key, before, context)
  if (!context.settings.alertmanager) return
  const raised = state === 'raised'
  const endsAt = raised ? 0 : context.time
  request(key, { ...alarm, raised, startsAt: since, endsAt, effectId: '', due: 0 }, context)
}

/** It is switched off. */
export function forgetAlerts(context: Context): void {
  for (const [alarm, alert] of [...context.resident(alerts)]) forget(alarm, alert, context)
}

/** Alertmanager was told, or could not be. An alarm that stands is told again: Alertmanager keeps none over a restart. */
export function alarmPosted({ alarm, posted }: AlarmPosted, context: Context): void {
  context.count('alarm_posts', posted ? 'taken' : 'failed')
  const alert = context.get(alerts, alarm)
  if (alert === undefined) return
  if (posted && !alert.raised) {
    forget(alarm, alert, context)
    return
  }
  const due = context.time + (posted ? context.settings.alertmanagerRepeatMs : RETRY_MS)
  context.arm(due, alertDeadline(alarm))
  context.put(alerts, alarm, { ...alert, effectId: '', due })
}

export function alertDue(alarm: string, context: Context): void {
  const alert = context.get(alerts, alarm)
  if (alert !== undefined) request(alarm, alert, context)
}

function request(alarm: string, alert: AlertRow, context: Context): void {
  const { platform, address, startsAt, text } = alert
  const { offset, index } = context.position
  const effectId = `alert/${offset}/${index}/${alarm}`
  const endsAt = alert.raised ? context.time + REPEATS_OF_A_LIFE * context.settings.alertmanagerRepeatMs : alert.endsAt
  const payload: AlertmanagerRequest = { alarm, platform, address, startsAt, endsAt, text }
  context.request({ id: effectId, kind: ALERTMANAGER_POST, target: alarm, payload })
  context.put(alerts, alarm, { ...alert, effectId, due: 0 })
}

function forget(alarm: string, { effectId, due }: AlertRow, context: Context): void {
  if (effectId !== '') context.withdraw(effectId)
  if (due !== 0) context.disarm(due, alertDeadline(alarm))
  context.delete(alerts, alarm)
}
