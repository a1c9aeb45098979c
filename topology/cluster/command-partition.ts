import { sleep } from '../../common/clock.js'
import type { JournalEvent } from '../processor.js'
import type { CommandOptions, CommandResult } from '../streams.js'
import type { Instances } from './ask-partition.js'
import type { Instance } from './directory.js'
import type { CommandCall, LocalCommandResult } from './instance-call.js'

export interface PartitionCommand {
  readonly domain: string
  readonly partition: number
  readonly event: JournalEvent
  readonly options: CommandOptions
}

/** A partition that is moving is waited for so long, if the command's own time allows. */
const MOVING_MS = 5000
const PAUSE_MS = 100
/** An owner that gives no answer in this time may be none any more: the directory is asked again. */
const CALL_MS = 5000
/** How much longer than the owner has for the answer it is waited for. */
const MARGIN_MS = 500
const RETRY_AFTER_MS = 1000

/**
 * Gives a command to the live task that is here, else to the owner, under its id: so it can be given again, and is done once.
 * That happens where no live task was found, or the one that took it has gone before it answered.
 */
export async function commandPartition(
  instances: Instances,
  { options, ...command }: PartitionCommand,
): Promise<CommandResult<unknown>> {
  const { clock } = instances
  const { timeoutMs, signal } = options
  const started = clock.monotonic()
  let wasHeard = false
  for (;;) {
    signal?.throwIfAborted()
    const remainingMs = timeoutMs - (clock.monotonic() - started)
    const result = await giveOnce(instances, { ...command, options: { ...options, timeoutMs: remainingMs } })
    if (result.ok || result.reason === 'failed' || result.reason === 'unavailable') return result
    wasHeard ||= result.reason !== 'notOwned'
    const passedMs = clock.monotonic() - started
    if (passedMs + PAUSE_MS >= (wasHeard ? timeoutMs : Math.min(timeoutMs, MOVING_MS))) {
      const { message, retryAfterMs } = result
      return wasHeard ? outcomeOpen(options, message) : { ok: false, reason: 'unavailable', message, retryAfterMs }
    }
    await sleep(clock, PAUSE_MS, signal)
  }
}

async function giveOnce(instances: Instances, command: PartitionCommand): Promise<LocalCommandResult> {
  const { local, directory } = instances
  const { domain, partition, event, options } = command
  const here = await local.commandLocal(domain, partition, event, options)
  if (here.ok || here.reason !== 'notOwned') return here
  const { owner } = directory.holders(domain, partition)
  return owner === undefined || owner.isSelf || owner.url === '' ? here : givePeer(instances, command, owner)
}

async function givePeer(
  { peers }: Instances,
  { options, ...rest }: PartitionCommand,
  peer: Instance,
): Promise<LocalCommandResult> {
  const { signal, ...told } = options
  const limitMs = Math.min(told.timeoutMs, CALL_MS)
  const call: CommandCall = { ...rest, options: { ...told, timeoutMs: limitMs } }
  const timeoutMs = limitMs + MARGIN_MS
  const answer = await peers.call<LocalCommandResult>(peer, 'command', call, { timeoutMs, ...(signal && { signal }) })
  if (answer.ok) return answer.answer
  const { message } = answer.error
  return { ok: false, reason: answer.wasHeard ? 'moved' : 'notOwned', message, retryAfterMs: RETRY_AFTER_MS }
}

function outcomeOpen({ commandId, timeoutMs }: CommandOptions, why: string): CommandResult<unknown> {
  const message = `no answer within ${timeoutMs} ms (${why}): the outcome is open; repeat the request with Idempotency-Key ${commandId}`
  return { ok: false, reason: 'outcomeOpen', message, retryAfterMs: RETRY_AFTER_MS }
}
