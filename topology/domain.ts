import type { StandbySet } from './cluster/standby-set.js'
import type { Intake } from './ingest/intake.js'
import type { BlockCodec } from './journal/block-codec.js'
import type { JournalWriter } from './journal/journal-writer.js'
import type { Processor } from './processor.js'
import type { TaskSet } from './task-set.js'

/** What the engine needs of a domain besides its processor. */
export interface Domain {
  readonly processor: Processor
  readonly journalTopic: string
  readonly codec: BlockCodec
  readonly writers: readonly JournalWriter[]
  readonly tasks: TaskSet
  readonly standbys: StandbySet
  readonly intake: Intake
}

/** The writer of one partition of its journal. */
export function writerOf({ writers, journalTopic }: Domain, partition: number): JournalWriter {
  const writer = writers[partition]
  if (writer === undefined) throw new Error(`${journalTopic} has no partition ${partition}`)
  return writer
}
