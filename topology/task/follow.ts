import { ensureError } from '../../common/errors.js'
import type { NewEntry } from '../journal/entry.js'
import type { TopicPartition } from '../log/log.js'
import { partitionOf } from '../partitioner.js'
import type { Committer } from './committer.js'
import type { Effects } from './effects.js'
import type { TaskEnvironment } from './environment.js'
import type { Consequence } from './folder.js'
import type { OnceOutputs } from './once-outputs.js'
import type { OnceOutput } from './once-outputs.js'
import { findOriginal } from './original.js'
import { sendableOutput } from './output-record.js'
import type { Ownership } from './ownership.js'
import type { Timers } from './timers.js'

/** Where the consequences of folds go. */
export interface Followers {
  readonly environment: TaskEnvironment
  readonly committer: Committer
  readonly timers: Timers
  readonly effects: Effects
  readonly ownership: Ownership
  readonly onceOutputs: OnceOutputs
  /** Else what was sent is not made known, and no intake asked for: a former term's folds are made good. */
  readonly isLive: boolean
  retrying<Result>(work: () => Promise<Result>): Promise<Result>
  onFailed(error: Error): void
}

/** Entries handed to a journal at once, which its sends do not part. */
const MAX_APPEND = 500

type Of<Kind extends Consequence['kind']> = Extract<Consequence, { kind: Kind }>

/**
 * Sends what folds have made; the next commit waits for the acknowledgements, and so do answers.
 */
export function follow(consequences: readonly Consequence[], followers: Followers): void {
  const { environment, committer, timers, effects, onceOutputs, ownership } = followers
  const outputs: Promise<unknown>[] = []
  const once: OnceOutput[] = []
  const sends = new Map<number, NewEntry[]>()
  let sent = 0
  const answers: Of<'answer'>[] = []
  const counts = new Map<string, number>()
  for (const consequence of consequences) {
    switch (consequence.kind) {
      case 'output':
        counts.set(consequence.output.topic, (counts.get(consequence.output.topic) ?? 0) + 1)
        if (consequence.output.once === true && consequence.acknowledged === undefined) {
          once.push({ ...targetOf(consequence, environment), made: consequence })
        } else {
          outputs.push(sendOutput(consequence, followers))
        }
        break
      case 'send':
        for (const target of targetsOf(consequence, environment)) {
          const entry = { kind: 'event' as const, event: consequence.event, source: consequence.source }
          const entries = sends.get(target)
          if (entries === undefined) sends.set(target, [entry])
          else entries.push(entry)
          sent++
        }
        break
      case 'deadLetter':
        outputs.push(sendDeadLetter(consequence, followers))
        break
      case 'answer':
        answers.push(consequence)
        break
      case 'request':
        effects.requested(consequence.effect)
        break
      case 'settled':
        effects.settled(consequence.effectId)
        break
      case 'intakeAsked':
        if (followers.isLive) environment.askIntake(consequence.asOf)
        break
      case 'armed':
        timers.armed(consequence)
        break
      case 'disarmed':
        timers.disarmed(consequence)
        break
      case 'fired':
        timers.fired(consequence)
        environment.observer.onDeadlineFired()
        break
      case 'owner':
        ownership.read(consequence)
        break
      case 'failed':
        environment.observer.onError(consequence.error)
        break
    }
  }
  for (const [target, entries] of sends) outputs.push(...send(target, entries, environment))
  const awaited = outputs.length + sent + once.length
  // Together, for a promise each would cost more than to fold what made it.
  if (once.length > 0) outputs.push(onceOutputs.send(once))
  for (const [topic, count] of counts) environment.observer.onOutput(topic, count)
  const tell = (): void => {
    for (const answer of answers) environment.onAnswer(answer)
  }
  if (outputs.length === 0) {
    tell()
  } else {
    const acknowledged = Promise.all(outputs)
    committer.addOutputs(acknowledged, awaited)
    acknowledged.then(tell, (thrown: unknown) => followers.onFailed(ensureError(thrown)))
  }
  timers.folded()
}

function targetOf({ output, record }: Of<'output'>, { outputPartitions }: TaskEnvironment): TopicPartition {
  return { topic: output.topic, partition: partitionOf(record.key, outputPartitions(output.topic)) }
}

function sendOutput(made: Of<'output'>, { environment, onceOutputs, isLive }: Followers): Promise<unknown> {
  const { journalName, partition, sendOutput: append } = environment
  const { output, acknowledged } = made
  const to = targetOf(made, environment)
  const sent =
    output.once === true
      ? onceOutputs.send([{ ...to, made }])
      : append(to, sendableOutput(made, `${journalName}/${partition}`))
  if (acknowledged !== undefined && isLive) {
    const entry = { kind: 'event' as const, event: acknowledged }
    sent
      .then(() => environment.journalWriter(partition).append([entry]))
      // Without the record there is nothing to make known; what became of it is told to the commit that waits for it.
      .catch(() => undefined)
  }
  return sent
}

/** Partitions of the own journal: one, or all. */
function targetsOf({ key }: Of<'send'>, { partitions }: TaskEnvironment): readonly number[] {
  return key === null ? Array.from({ length: partitions }, (_, i) => i) : [partitionOf(key, partitions)]
}

function send(target: number, entries: readonly NewEntry[], environment: TaskEnvironment): Promise<unknown>[] {
  const appended: Promise<unknown>[] = []
  for (let at = 0; at < entries.length; at += MAX_APPEND) {
    appended.push(environment.journalWriter(target).append(entries.slice(at, at + MAX_APPEND)))
  }
  return appended
}

async function sendDeadLetter({ problem, position }: Of<'deadLetter'>, followers: Followers): Promise<void> {
  const { environment } = followers
  const { letter, original } = await followers.retrying(() => findOriginal(environment, problem, position))
  await environment.sendDeadLetter(letter, original)
}
