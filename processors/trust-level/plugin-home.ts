import type {
  DmiPluginChecked,
  DmiPluginLevelBroadcast,
  DmiPluginRegistered,
  DmiPluginUseChanged,
  TrustLevel,
} from '../../schemas/trust-level/journal-events.js'
import { murmur2 } from '../../topology/partitioner.js'
import { broadcastEvent } from './context.js'
import type { Context } from './context.js'
import { deadlineId, rearm } from './deadlines.js'
import type { DeadlineSubject } from './deadlines.js'
import { DMI_HEALTH_CHECK } from './effects/dmi-health-check-request.js'
import type { DmiHealthCheckRequest } from './effects/dmi-health-check-request.js'
import { pluginName } from './plugin-name.js'
import { NEVER, pluginHomes } from './tables.js'
import type { PluginHomeRow } from './tables.js'

/** A plugin that no handle uses is kept for so long after its last registration, whose handles may be on their way. */
const UNUSED_LIFE_MS = 60_000
/** Changes of a level in one ms of journal time that have numbers of their own; the numbers stay whole up to the year 2040. */
const NUMBERS_A_MS = 4096

/** A registration names the plugin: a sign of life. Answers with what all partitions are told. (trust levels, section 0) */
export function dmiPluginRegistered(registered: DmiPluginRegistered, context: Context): void {
  const plugin = pluginName(registered.plugin)
  context.because('a registration names the plugin: a sign of life', {
    level: context.get(pluginHomes, plugin)?.level ?? null,
  })
  context.answer({ plugin: told(plugin, settled(plugin, context), false) })
}

/** The result of the check under way; any other changes nothing. The next one is due a period after this one was. */
export function dmiPluginChecked(checked: DmiPluginChecked, context: Context): void {
  const plugin = pluginName(checked.plugin)
  const home = context.get(pluginHomes, plugin)
  if (home === undefined || home.owedCheck === '') return
  const { time } = context
  const next = home.checkDue + periodMs(context)
  const checkDue = next > time ? next : time + periodMs(context)
  context.arm(checkDue, deadlineId('check', plugin))
  context.count('plugin_checks', checked.up ? 'up' : 'down')
  context.because(checked.up ? 'the health check says up' : 'the health check says down', {
    reason: checked.reason,
    lastCheck: home.lastCheck,
    nextDue: checkDue,
  })
  const healthPath = checked.healthPath === '' ? home.healthPath : checked.healthPath
  const row = { ...home, owedCheck: '', checkDue, healthPath, lastCheck: time, reason: checked.reason }
  context.put(pluginHomes, plugin, withLevel(plugin, row, checked.up ? 'COMPLETE' : 'NONE', context))
}

/** A check is due: it is asked for, and the next one is armed only with its result, so that they never overlap. */
export function checkDue({ subject: plugin, due }: DeadlineSubject, context: Context): void {
  const home = context.get(pluginHomes, plugin)
  if (home === undefined || home.checkDue !== due || home.owedCheck !== '') return
  const { time, position } = context
  context.because('a health check is due', { due, lastCheck: home.lastCheck })
  const owedCheck = `${DMI_HEALTH_CHECK}/${time}/${position.offset}/${position.index}`
  const payload: DmiHealthCheckRequest = { plugin, healthPath: home.healthPath }
  context.request({ id: owedCheck, kind: DMI_HEALTH_CHECK, target: plugin, payload })
  // What was due a period ago or more (nobody was there) goes on from now.
  context.put(pluginHomes, plugin, { ...home, owedCheck, checkDue: time - due < periodMs(context) ? due : time })
}

/** A partition has its first handle of the plugin, or lost its last. */
export function dmiPluginUseChanged(change: DmiPluginUseChanged, context: Context): void {
  const plugin = pluginName(change.plugin)
  const known = context.get(pluginHomes, plugin)
  if (known === undefined && !change.used) return
  const home = known ?? settled(plugin, context)
  context.because(change.used ? 'a partition has its first handle' : 'a partition has lost its last handle', {
    partition: change.partition,
  })
  const others = home.using.filter((partition) => partition !== change.partition)
  const using = change.used ? [...others, change.partition].sort((a, b) => a - b) : others
  keepWatch(plugin, { ...home, using }, context)
}

/** Is the plugin still without handles? Then it is forgotten everywhere, and checked no more. */
export function forgetDue({ subject: plugin, due }: DeadlineSubject, context: Context): void {
  const home = context.get(pluginHomes, plugin)
  if (home?.forgetDue !== due) return
  if (home.using.length > 0 || home.settledAt + UNUSED_LIFE_MS > context.time) {
    keepWatch(plugin, { ...home, forgetDue: 0 }, context)
    return
  }
  context.because('no handle uses the plugin', { settledAt: home.settledAt, unusedLifeMs: UNUSED_LIFE_MS })
  if (home.owedCheck === '') context.disarm(home.checkDue, deadlineId('check', plugin))
  else context.withdraw(home.owedCheck)
  context.delete(pluginHomes, plugin)
  context.count('plugins_forgotten')
  broadcastEvent(context, {
    type: 'DmiPluginLevelBroadcast',
    data: told(plugin, { ...home, number: numberAfter(home.number, context) }, true),
  })
}

/** The plugin's row after a registration: known, COMPLETE, checked. */
function settled(plugin: string, context: Context): PluginHomeRow {
  const { time } = context
  const known = context.get(pluginHomes, plugin)
  if (known !== undefined) {
    const home = withLevel(plugin, { ...known, settledAt: time }, 'COMPLETE', context)
    const isReturn = home.level !== known.level
    const row = isReturn ? { ...home, reason: 'registered' } : home
    context.put(pluginHomes, plugin, row)
    return row
  }
  const checkDue = time + phaseMs(plugin, context)
  const home: PluginHomeRow = {
    level: 'COMPLETE',
    since: time,
    settledAt: time,
    using: [],
    forgetDue: 0,
    checkDue,
    healthPath: '',
    lastCheck: null,
    reason: 'registered',
    number: numberAfter(NEVER, context),
    returnNumber: NEVER,
    owedCheck: '',
  }
  context.arm(checkDue, deadlineId('check', plugin))
  broadcastEvent(context, { type: 'DmiPluginLevelBroadcast', data: told(plugin, home, false) })
  return keepWatch(plugin, home, context)
}

/** Puts the row; while no partition uses the plugin, a deadline asks whether to forget it. */
function keepWatch(plugin: string, home: PluginHomeRow, context: Context): PluginHomeRow {
  const due = home.using.length > 0 ? 0 : Math.max(context.time, home.settledAt + UNUSED_LIFE_MS)
  rearm(context, deadlineId('forget', plugin), home.forgetDue, due)
  const row = { ...home, forgetDue: due }
  context.put(pluginHomes, plugin, row)
  return row
}

/** The row at another level, told to all partitions; from NONE to COMPLETE it has returned. */
function withLevel(plugin: string, home: PluginHomeRow, level: TrustLevel, context: Context): PluginHomeRow {
  if (home.level === level) return home
  const number = numberAfter(home.number, context)
  const returnNumber = level === 'COMPLETE' ? number : home.returnNumber
  const row = { ...home, level, since: context.time, number, returnNumber }
  context.count('plugin_level_changes', level)
  context.because("the plugin's level changes", { from: home.level, to: level })
  broadcastEvent(context, { type: 'DmiPluginLevelBroadcast', data: told(plugin, row, false) })
  return row
}

function told(plugin: string, home: PluginHomeRow, forgotten: boolean): DmiPluginLevelBroadcast {
  const { level, number, returnNumber, since } = home
  return { plugin, trustLevel: level, number, returnNumber, since, forgotten }
}

/** Grows with journal time, which two sites share, where each has positions of its own. */
function numberAfter(last: number, { time }: Context): number {
  return Math.max(time * NUMBERS_A_MS, last + 1)
}

/** So that a plugin's failure is known an interval after it at most, the check's own time included. */
function periodMs({ settings }: Context): number {
  return Math.max(1, settings.dmiHealthIntervalMs - settings.dmiHealthDeadlineMs)
}

/** Spreads the checks of many plugins over the period. */
function phaseMs(plugin: string, context: Context): number {
  return (murmur2(Buffer.from(plugin)) >>> 0) % periodMs(context)
}
