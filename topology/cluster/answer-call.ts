import { cut } from '../../common/errors.js'
import type { Demand } from '../streams.js'
import { askHere } from './ask-here.js'
import { isLive } from './hand-over.js'
import type { QueryCall, CommandCall, LocalCommandResult, QueryAnswer } from './instance-call.js'
import type { LocalStreams } from './local-streams.js'

/** A call that this instance cannot make sense of: another version sent it. `reason` is for its log. */
export type Answered<Answer> =
  { readonly ok: true; readonly answer: Answer } | { readonly ok: false; readonly reason: string }

/** Answers another instance's query from what is here, or says why not; it is never passed on, so no call can go round. */
export async function answerQueryCall(local: LocalStreams, call: unknown): Promise<Answered<QueryAnswer>> {
  if (!isQueryCall(call)) return { ok: false, reason: 'not a query' }
  const { domain, query, partition, args, minOffset, maxStalenessMs, activeOnly } = call
  const processor = local.processors.find(({ name }) => name === domain)
  const known = [...(processor?.queries ?? []), isLive].find(({ name }) => name === query)
  if (processor === undefined || known === undefined) {
    return { ok: false, reason: `there is no query ${cut(query)} of ${cut(domain)} here` }
  }
  const { topic, partitions } = local.journal(domain)
  if (partition >= partitions) return { ok: false, reason: `${domain} has ${partitions} partitions here` }
  const demand: Demand = {
    ...(minOffset >= 0 && { minPositions: [{ topic, partition, offset: minOffset }] }),
    ...(maxStalenessMs !== undefined && { maxStalenessMs }),
    ...(activeOnly && { role: 'active' }),
  }
  return { ok: true, answer: await askHere(local, { domain, query: known, partition, args, demand }) }
}

/** As `answerQueryCall`, for several that are quick. */
export async function answerLookUps(
  local: LocalStreams,
  calls: unknown,
): Promise<Answered<readonly Answered<QueryAnswer>[]>> {
  if (!Array.isArray(calls)) return { ok: false, reason: 'no look-ups' }
  return { ok: true, answer: await Promise.all(calls.map((call) => answerQueryCall(local, call))) }
}

/** As `answerQueryCall`, for a command. */
export async function answerCommandCall(local: LocalStreams, call: unknown): Promise<Answered<LocalCommandResult>> {
  if (!isCommandCall(call)) return { ok: false, reason: 'not a command' }
  const { domain, partition, event, options } = call
  const processor = local.processors.find(({ name }) => name === domain)
  if (processor === undefined || !Object.hasOwn(processor.events, event.type)) {
    return { ok: false, reason: `there is no event ${cut(event.type)} of ${cut(domain)} here` }
  }
  const { partitions } = local.journal(domain)
  if (partition >= partitions) return { ok: false, reason: `${domain} has ${partitions} partitions here` }
  return { ok: true, answer: await local.commandLocal(domain, partition, event, options) }
}

type Members = Readonly<Record<string, unknown>>

function isQueryCall(call: unknown): call is QueryCall {
  if (!isObject(call)) return false
  const { maxStalenessMs } = call
  return (
    hasTexts(call, 'domain', 'query') &&
    isCount(call['partition']) &&
    Number.isSafeInteger(call['minOffset']) &&
    (maxStalenessMs === undefined || isCount(maxStalenessMs)) &&
    typeof call['activeOnly'] === 'boolean'
  )
}

function isCommandCall(call: unknown): call is CommandCall {
  if (!isObject(call)) return false
  const { event, options } = call
  return (
    hasTexts(call, 'domain') &&
    isCount(call['partition']) &&
    isObject(event) &&
    hasTexts(event, 'type') &&
    isObject(event['data']) &&
    isObject(options) &&
    hasTexts(options, 'commandId') &&
    ['actor', 'reason'].every((name) => options[name] === undefined || typeof options[name] === 'string') &&
    typeof options['timeoutMs'] === 'number'
  )
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function hasTexts(value: Members, ...names: readonly string[]): boolean {
  return names.every((name) => typeof value[name] === 'string')
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
