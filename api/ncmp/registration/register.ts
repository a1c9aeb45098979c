import type {
  CmHandlesAnswer,
  DmiPluginAnswer,
  DmiPluginLevelBroadcast,
} from '../../../schemas/trust-level/journal-events.js'
import { TRUST_LEVEL } from '../../trust-level-queries.js'
import type { Api } from '../../api.js'
import { commandAnswer, noAnswerText } from '../../acts.js'
import type { Act } from './act.js'
import { claimants } from './claimants.js'
import { contentName } from './content-name.js'
import { failure } from './failures.js'
import type { Failures } from './failures.js'
import { handleParts, noHandles } from './parts.js'
import type { HandlesPart } from './parts.js'
import type { RegistrationRequest } from './request.js'

/**
 * Carries out a registration: the data plugin is settled at its home first, so that no handle is folded before it; then
 * removals, which may free alternate ids; then the claims of alternate ids; then everything else. Each command's name tells what
 * it holds, as far as that does not follow from the request and the first answers to it: repeated, it gets its own first
 * answer. Failures of handles are
 * added to the request's. Errors: OUTCOME_OPEN, UNAVAILABLE, when the plugin's home gives no answer and there is no handle to
 * list. (trust levels, section 1.4)
 */
export async function register(api: Api, act: Act, request: RegistrationRequest): Promise<Failures> {
  const { failures } = request
  const handles = withoutPluginNames(request)
  const settled = await settlePlugin(act, request, isEmpty(handles))
  if (typeof settled === 'string') {
    failAll(failures, handles, settled)
    return failures
  }
  const step = { api, act, request, plugin: settled }
  await sendHandles(step, { ...noHandles, removed: handles.removed }, 'removed')
  const { free, granted, contested } = await claimants(step, handles)
  await Promise.all([
    sendHandles(step, free, 'handles'),
    sendHandles(step, granted, 'claimed'),
    ...contested.map((alone) => sendHandles(step, alone, `contested/${contentName(JSON.stringify(alone))}`)),
  ])
  return failures
}

interface Step {
  readonly api: Api
  readonly act: Act
  readonly request: RegistrationRequest
  readonly plugin: DmiPluginLevelBroadcast | null
}

/** The plugin's level at home, null without plugin; or, as a text, why it is not known. */
async function settlePlugin(
  act: Act,
  { plugins }: RegistrationRequest,
  isAlone: boolean,
): Promise<DmiPluginLevelBroadcast | null | string> {
  const plugin = plugins.dmiDataPlugin === '' ? plugins.dmiPlugin : plugins.dmiDataPlugin
  if (plugin === '') return null
  const event = { type: 'DmiPluginRegistered', data: { plugin } }
  const result = await act.command<DmiPluginAnswer>({ key: plugin }, event, 'plugin')
  if (result.ok || isAlone) return commandAnswer(result, act.id).answer.plugin
  return noAnswerText(result, act.id)
}

/** Partitions side by side, the parts of each one after the other: their order is the request's. */
async function sendHandles({ api, act, request, plugin }: Step, handles: HandlesPart, name: string): Promise<void> {
  const { failures, plugins } = request
  const { partitions } = api.streams.journal(TRUST_LEVEL)
  await Promise.all(
    [...handleParts(handles, partitions)].map(async ([partition, parts]) => {
      for (const [i, part] of parts.entries()) {
        const data = { plugins, plugin, claimId: act.id, ...part }
        const event = { type: 'CmHandlesRegistered', data }
        const result = await act.command<CmHandlesAnswer>({ partition }, event, `${name}/${partition}/${i}`)
        if (!result.ok) failAll(failures, part, noAnswerText(result, act.id))
        else {
          failures.created.push(...result.answer.failedCreated)
          failures.updated.push(...result.answer.failedUpdated)
          failures.removed.push(...result.answer.failedRemoved)
          failures.upgraded.push(...result.answer.failedUpgraded)
        }
      }
    }),
  )
}

function failAll(failures: Failures, handles: HandlesPart, why: string): void {
  failures.removed.push(...handles.removed.map((cmHandle) => failure(cmHandle, '108', why)))
  failures.created.push(...handles.created.map(({ cmHandle }) => failure(cmHandle, '108', why)))
  failures.updated.push(...handles.updated.map(({ cmHandle }) => failure(cmHandle, '108', why)))
  failures.upgraded.push(...handles.upgraded.map(({ cmHandle }) => failure(cmHandle, '108', why)))
}

function withoutPluginNames({ removed, created, updated, upgraded }: RegistrationRequest): HandlesPart {
  return { removed, created, updated, upgraded }
}

function isEmpty({ removed, created, updated, upgraded }: HandlesPart): boolean {
  return removed.length + created.length + updated.length + upgraded.length === 0
}
