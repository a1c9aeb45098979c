import { ensureError, PulsefoldError } from '../common/errors.js'
import type { LocalCommandResult } from './cluster/instance-call.js'
import type { JournalWriter } from './journal/journal-writer.js'
import type { PendingCommands } from './pending-commands.js'
import type { JournalEvent } from './processor.js'
import type { CommandOptions } from './streams.js'

/** A partition with a live task here. */
export interface OwnPartition {
  readonly writer: Pick<JournalWriter, 'append'>
  readonly commands: PendingCommands
  /** The domain's journal. */
  readonly topic: string
  readonly partition: number
  readonly domain: string
}

/** Appends a command and waits for what its fold says, or until it is known that nothing will come here. */
export async function ownCommand(
  { writer, commands, topic, partition, domain }: OwnPartition,
  event: JournalEvent,
  { commandId, actor, reason, timeoutMs }: CommandOptions,
): Promise<LocalCommandResult> {
  const answer = commands.wait(commandId, `${topic}/${partition}`, timeoutMs)
  const optional = { ...(actor !== undefined && { actor }), ...(reason !== undefined && { reason }) }
  const refusal = writer
    .append([{ kind: 'event', event, commandId, ...optional }], timeoutMs)
    .then(() => undefined, ensureError)
  const refused = await Promise.race([answer.then(() => undefined), refusal])
  // A log that does not acknowledge leaves the outcome open, as a fold that does not answer: it may have it all the same.
  const isOpen = refused instanceof PulsefoldError && refused.retryable
  if (refused !== undefined && !isOpen) {
    return { ok: false, reason: 'unavailable', message: refused.message, retryAfterMs: 1000 }
  }
  const answered = refused === undefined ? await answer : 'late'
  if (answered === 'moved') {
    const message = `partition ${partition} of ${domain} went to another owner before it answered`
    return { ok: false, reason: 'moved', message, retryAfterMs: 1000 }
  }
  if (answered === 'late') {
    const why = refused === undefined ? `no answer within ${timeoutMs} ms` : refused.message
    const message = `${why}: the outcome is open; repeat the request with Idempotency-Key ${commandId}`
    return { ok: false, reason: 'outcomeOpen', message, retryAfterMs: 1000 }
  }
  if (answered.failed === true) {
    const failed = 'the command could not be folded and changed nothing'
    return { ok: false, reason: 'failed', message: failed, retryAfterMs: 0 }
  }
  return { ok: true, answer: answered.answer, position: { topic, partition, offset: answered.offset } }
}
