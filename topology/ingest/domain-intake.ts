import type { Clock } from '../../common/clock.js'
import type { JournalWriter } from '../journal/journal-writer.js'
import type { GroupMember, Log } from '../log/log.js'
import type { EngineObserver } from '../observer.js'
import type { Processor } from '../processor.js'
import { Intake } from './intake.js'
import type { Sources } from './sources/sources.js'

export interface IntakeEnvironment {
  readonly log: Log
  readonly clock: Clock
  readonly sources: Sources
  readonly member: () => GroupMember | undefined
  readonly observer: EngineObserver
  readonly signal: AbortSignal
}

/** The intake of a domain's inputs, told to the journals by its events. */
export function domainIntake(
  { name, inputs, inputsTakenIn }: Processor,
  writers: readonly JournalWriter[],
  { log, clock, sources, member, observer, signal }: IntakeEnvironment,
): Intake {
  const onError = (error: Error): void => observer.onError(`intake of ${name}`, error)
  return new Intake({
    ...{ clock, log, onError, signal },
    inputs: () => inputs.flatMap(({ topic }) => sources.partitionsOf(topic)),
    committed: async (input) => sources.takenIn(input) ?? (await member()?.committed(input))?.offset,
    tell(partition, taken) {
      const event = inputsTakenIn?.(taken)
      if (event !== undefined) writers[partition]?.append([{ kind: 'event', event }]).catch(onError)
    },
  })
}
