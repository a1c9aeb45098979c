import type { Folded } from '../task/folder.js'
import type { AuditedJournal } from './audit.js'

/** An event that a fold sends to a journal of its domain. JSON. */
export interface Send {
  readonly domain: string
  /** Of the fold that sends it; index 60000 and above: it is not in the journal. */
  readonly partition: number
  readonly offset: number
  readonly index: number
  /** Journal time, ms. */
  readonly time: number
  /** Whose partition it goes to; null: every one. */
  readonly key: string | null
  readonly type: string
}

/** By what is sent, when, from where to where. */
export type Sends = ReadonlyMap<string, Send>

/** Collects what folds of a journal send. */
export function collectSends({ processor, journal }: AuditedJournal): {
  readonly sends: Sends
  readonly take: (folded: Folded, time: number) => void
} {
  const sends = new Map<string, Send>()
  return {
    sends,
    take({ consequences, position }, time) {
      for (const consequence of consequences) {
        if (consequence.kind !== 'send') continue
        const { key, event } = consequence
        const { partition } = journal
        const name = JSON.stringify([processor.name, partition, time, key, event, consequence.source.index])
        sends.set(name, { domain: processor.name, partition, ...position, time, key, type: event.type })
      }
    },
  }
}

/** Those of `one` that `other` has not. */
export function sendsMissing(one: Sends, other: Sends): readonly Send[] {
  return [...one].flatMap(([name, send]) => (other.has(name) ? [] : [send]))
}
