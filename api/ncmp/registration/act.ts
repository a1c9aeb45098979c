import type { JournalEvent } from '../../../topology/processor.js'
import type { CommandResult, Position } from '../../../topology/streams.js'
import type { CommandOptions } from '../../../topology/streams.js'
import { TRUST_LEVEL } from '../../trust-level-queries.js'
import type { Api } from '../../api.js'

/** One changing request that is carried out by several commands, each named after it, within one time limit. */
export interface Act {
  readonly id: string
  /** Where its commands stand. */
  readonly positions: readonly Position[]
  /** `name` is unique in the act: the command's id is `<act>/<name>`. */
  command<Answer>(
    to: { readonly key: string } | { readonly partition: number },
    event: JournalEvent,
    name: string,
  ): Promise<CommandResult<Answer>>
}

export function startAct(api: Api, options: Omit<CommandOptions, 'timeoutMs'>, timeoutMs: number): Act {
  const until = api.clock.monotonic() + timeoutMs
  const positions: Position[] = []
  return {
    id: options.commandId,
    positions,
    async command<Answer>(to: { key: string } | { partition: number }, event: JournalEvent, name: string) {
      const commandId = `${options.commandId}/${name}`
      const remaining = Math.max(1, until - api.clock.monotonic())
      const named = { ...options, commandId, timeoutMs: remaining }
      const result = await api.streams.command<Answer>(TRUST_LEVEL, to, event, named)
      if (result.ok) positions.push(result.position)
      return result
    },
  }
}
