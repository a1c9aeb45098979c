import type { DmiPluginLevelBroadcast } from '../../schemas/trust-level/journal-events.js'
import type { IndexEntry, Reads, RowReference } from '../../topology/processor.js'
import type { Context } from './context.js'
import { deadlineId } from './deadlines.js'
import type { DeadlineSubject } from './deadlines.js'
import { effectiveLevel } from './levels.js'
import { announce } from './notices.js'
import { pluginName } from './plugin-name.js'
import { byPluginKey, cmHandles, handleEntry, isDataPlugin, plugins, pluginUse, trust } from './tables.js'
import type { PluginPass, PluginRow } from './tables.js'

/** Handles that one deadline of a pass looks at. */
export const ANNOUNCED_AT_ONCE = 500

/**
 * A plugin's level as its home tells it: one row, however many handles it has; a number not above the last is ignored. Its
 * handles are announced afterwards, in portions. A return makes own levels told before it count no longer, unless
 * `onDmiRestart` says to keep them. (trust levels, section 0)
 */
export function pluginLevelTold(told: DmiPluginLevelBroadcast, context: Context): void {
  const name = pluginName(told.plugin)
  const row = context.get(plugins, name)
  if (row !== undefined && told.number <= row.number) {
    context.because("not newer than what is known of the plugin's level", { number: told.number, known: row.number })
    return
  }
  const isUsed = context.get(pluginUse, name) !== undefined
  if (told.forgotten) {
    // Where it is used, its home is about to hear so, and settles it again.
    if (row === undefined || isUsed) return
    endPass(name, row.pass, context)
    context.delete(plugins, name)
    return
  }
  const { time, position, settings } = context
  const { offset, index } = position
  const hasReturned = row !== undefined && settings.onDmiRestart === 'complete' && told.returnNumber > row.returnNumber
  const hasLevelChanged = row?.level !== told.trustLevel
  context.because(hasReturned ? 'the plugin is back: own levels from before do not count' : "the plugin's level", {
    from: row?.level ?? null,
    to: told.trustLevel,
    onDmiRestart: settings.onDmiRestart,
  })
  const mustAnnounce = settings.trustLevelNotices && isUsed && (hasLevelChanged || hasReturned)
  const pass = mustAnnounce ? startPass(name, row?.pass ?? null, context) : (row?.pass ?? null)
  context.put(plugins, name, {
    level: told.trustLevel,
    since: told.since,
    returnedAt: hasReturned ? time : (row?.returnedAt ?? 0),
    pass,
    number: told.number,
    returnNumber: row === undefined || hasReturned ? told.returnNumber : row.returnNumber,
    offset: hasLevelChanged ? offset : row.offset,
    index: hasLevelChanged ? index : row.index,
    returnOffset: hasReturned ? offset : (row?.returnOffset ?? -1),
    returnIndex: hasReturned ? index : (row?.returnIndex ?? -1),
  })
}

/** The next handles of a pass. */
export function readsOfPass({ subject: plugin, rest: after }: DeadlineSubject): Reads {
  const prefix = byPluginKey(plugin)
  return {
    rows: [],
    scan: {
      table: cmHandles,
      index: 'by-plugin',
      range: { prefix, limit: ANNOUNCED_AT_ONCE, ...(after !== '' && { after: prefix + after }) },
      thenRows: (entries) => handlesAmong(plugin, entries).map((key): RowReference => ({ table: trust, key })),
    },
  }
}

/** Announces a portion of a plugin's handles: each whose effective level is not the one last announced, once. */
export function passDue({ subject: plugin }: DeadlineSubject, context: Context): void {
  const row = context.get(plugins, plugin)
  if (row === undefined) return
  const { scanned, settings } = context
  const isLast = scanned.length < ANNOUNCED_AT_ONCE || !settings.trustLevelNotices
  if (settings.trustLevelNotices) {
    for (const cmHandle of handlesAmong(plugin, scanned)) announceHandle(cmHandle, row, context)
  }
  const last = scanned.at(-1)
  const pass = isLast || last === undefined ? null : armPass(plugin, handleEntry(plugin, last).id, context)
  context.put(plugins, plugin, { ...row, pass })
}

function announceHandle(cmHandle: string, plugin: PluginRow, context: Context): void {
  const row = context.get(trust, cmHandle)
  if (row?.status !== 'REGISTERED') return
  const level = effectiveLevel(row, plugin)
  if (level === row.announced) return
  context.put(trust, cmHandle, { ...row, announced: level })
  announce(context, cmHandle, row.announced, level, 'plugin')
}

function handlesAmong(plugin: string, entries: readonly IndexEntry[]): readonly string[] {
  return entries.filter(isDataPlugin).map((entry) => handleEntry(plugin, entry).id)
}

/** From the first handle on; a pass under way is given up, for the level announced last tells what is left to do. */
function startPass(plugin: string, underWay: PluginPass | null, context: Context): PluginPass {
  endPass(plugin, underWay, context)
  return armPass(plugin, '', context)
}

function armPass(plugin: string, after: string, context: Context): PluginPass {
  context.arm(context.time, deadlineId('announce', plugin, after))
  return { due: context.time, after }
}

function endPass(plugin: string, pass: PluginPass | null, context: Context): void {
  if (pass !== null) context.disarm(pass.due, deadlineId('announce', plugin, pass.after))
}
