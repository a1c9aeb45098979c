import type { TrustLevel } from '../../schemas/trust-level/journal-events.js'
import { sendEvent } from './context.js'
import type { Context } from './context.js'
import { deadlineId } from './deadlines.js'
import { effectiveLevel } from './levels.js'
import { announce } from './notices.js'
import { NEVER, plugins, pluginUse, trust } from './tables.js'
import type { PluginRow, TrustRow } from './tables.js'

/**
 * A handle is registered with a level, unless one is pending for it: that is taken over, also against the level named, but
 * not where the plugin has returned since. Only a handle that begins below COMPLETE is told of. (trust levels, section 0)
 */
export function startOwnLevel(cmHandle: string, plugin: string, named: TrustLevel, context: Context): void {
  const former = context.get(trust, cmHandle)
  endFormer(cmHandle, former, context)
  const pluginRow = context.get(plugins, plugin)
  const pending = former?.status === 'PENDING' && !isBeforeReturn(former, pluginRow) ? former : null
  const { offset, index } = pending ?? context.position
  const started = { own: pending?.own ?? named, returnNumber: pluginRow?.returnNumber ?? NEVER }
  const announced = effectiveLevel(started, pluginRow)
  const told = pending === null ? 'registered with its level' : 'registered: the pending level is taken over'
  context.because(told, {
    named,
    pending: pending?.own ?? null,
    own: started.own,
    pluginLevel: pluginRow?.level ?? null,
  })
  context.put(trust, cmHandle, {
    status: 'REGISTERED',
    plugin,
    own: started.own,
    // Reports keep their order over the registration; those from before a removal stay late.
    eventTime: former?.eventTime ?? 0,
    reported: former?.reported ?? false,
    since: pending?.since ?? context.time,
    announced,
    due: 0,
    returnNumber: started.returnNumber,
    offset,
    index,
  })
  if (announced !== 'COMPLETE') announce(context, cmHandle, null, announced, 'registration')
  changeUse(plugin, 1, context)
}

/** A handle is removed: its level goes, and reports from before stay known as such for a while. */
export function forgetOwnLevel(cmHandle: string, context: Context): void {
  const row = context.get(trust, cmHandle)
  if (row?.status !== 'REGISTERED') return
  const { time } = context
  const due = time + context.settings.pendingLevelMs
  context.because('the handle is removed', { own: row.own })
  context.arm(due, deadlineId('tombstone', cmHandle))
  context.put(trust, cmHandle, {
    status: 'REMOVED',
    plugin: '',
    own: 'NONE',
    eventTime: time,
    reported: false,
    since: time,
    announced: 'NONE',
    due,
    returnNumber: NEVER,
    offset: context.position.offset,
    index: context.position.index,
  })
  changeUse(row.plugin, -1, context)
}

function endFormer(cmHandle: string, former: TrustRow | undefined, context: Context): void {
  if (former === undefined || former.status === 'REGISTERED') return
  context.disarm(former.due, deadlineId(former.status === 'PENDING' ? 'pending' : 'tombstone', cmHandle))
}

/** An own level counts only if it stands after the plugin's last return in the journal. */
function isBeforeReturn(pending: TrustRow, plugin: PluginRow | undefined): boolean {
  if (plugin === undefined) return false
  return (
    pending.offset < plugin.returnOffset ||
    (pending.offset === plugin.returnOffset && pending.index < plugin.returnIndex)
  )
}

/** Counts a plugin's handles here; its home hears of the first and of the last. */
function changeUse(plugin: string, difference: 1 | -1, context: Context): void {
  const before = context.get(pluginUse, plugin)?.handles ?? 0
  const handles = before + difference
  if (handles > 0) context.put(pluginUse, plugin, { handles })
  else context.delete(pluginUse, plugin)
  if (plugin !== '' && (before === 0 || handles === 0)) {
    const { partition } = context
    sendEvent(context, plugin, { type: 'DmiPluginUseChanged', data: { plugin, partition, used: handles > 0 } })
  }
}
