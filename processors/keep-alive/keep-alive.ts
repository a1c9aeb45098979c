import { decodeE2tMessage } from '../../schemas/keep-alive/decode.js'
import type { KeepAliveEvent } from '../../schemas/keep-alive/journal-events.js'
import { keepAliveEventSchemas } from '../../schemas/keep-alive/journal-schemas.js'
import { e2tMessageJson } from '../../schemas/keep-alive/message-schemas.js'
import { E2T_MESSAGE_TYPES } from '../../schemas/keep-alive/message-types.js'
import type { Deadline, Effector, Processor, Reads } from '../../topology/processor.js'
import { counters } from './context.js'
import type { Context, DeadlineKind } from './context.js'
import { deletionDue } from './kill.js'
import {
  enbAdded,
  enbDeleted,
  nodebUpdated,
  ranHealthAsked,
  readsOfNodeb,
  ricParametersSet,
  serviceUpdated,
} from './operator.js'
import { outputs } from './outputs.js'
import { podDeleted, podFound } from './pods.js'
import { keepAliveQueries } from './queries.js'
import { redButtonDue, redButtonPressed } from './red-button.js'
import { e2tInitReported, keepAliveAnswered } from './registration.js'
import { routingManagerCalled } from './routing-manager-results.js'
import { messageForgotten, readsOfMessage } from './seen-messages.js'
import type { KeepAliveSettings } from './settings.js'
import { e2SetupRequested, ranConnectionLost, readsOfSetup } from './setup.js'
import { subjects } from './subjects.js'
import { seenMessages, SEPARATOR, tables } from './tables.js'
import { messagesTakenIn, requestSent, tickDue } from './ticks.js'

export interface KeepAliveOptions {
  readonly settings: KeepAliveSettings
  /** Input topic of messages from E2 terminations. */
  readonly messagesTopic: string
  /** The RIC of messages that name none. */
  readonly ricId: string
  /** Calls of the Routing Manager, and what is done to pods. */
  readonly effectors: readonly Effector[]
}

/** Keep-alive of E2T instances, and the RANs that are associated with them: the E2 Manager's part. (keep-alive) */
export function keepAlive(options: KeepAliveOptions): Processor<KeepAliveEvent, KeepAliveSettings> {
  const { settings, messagesTopic, ricId, effectors } = options
  return {
    name: 'keep-alive',
    foldVersion: 1,
    store: 'keep-alive',
    events: keepAliveEventSchemas,
    inputs: [
      {
        topic: messagesTopic,
        types: E2T_MESSAGE_TYPES,
        json: e2tMessageJson,
        decode: (record) => decodeE2tMessage(record, ricId),
      },
    ],
    outputs,
    tables,
    queries: Object.values(keepAliveQueries),
    effectors,
    counters,
    settings,
    inputsTakenIn: (taken) => ({ type: 'E2tMessagesTakenIn', data: taken }),
    reads,
    evolve,
    readsOfDeadline,
    onDeadline,
    subjects,
  }
}

/** How one kind of event is folded; without `reads` it touches resident tables only. */
interface Fold<Data> {
  reads?(data: Data): Reads
  evolve(data: Data, context: Context): void
}

const folds: { readonly [Event in KeepAliveEvent as Event['type']]: Fold<Event['data']> } = {
  E2tInitReported: { reads: readsOfMessage, evolve: e2tInitReported },
  KeepAliveAnswered: { evolve: keepAliveAnswered },
  RanConnectionLost: { reads: readsOfMessage, evolve: ranConnectionLost },
  E2SetupRequested: { reads: readsOfSetup, evolve: e2SetupRequested },
  ServiceUpdated: { evolve: serviceUpdated },
  KeepAliveRequestSent: { evolve: requestSent },
  E2tMessagesTakenIn: { evolve: messagesTakenIn },
  RoutingManagerCalled: { evolve: routingManagerCalled },
  PodFound: { evolve: podFound },
  PodDeleted: { evolve: podDeleted },
  RicParametersSet: { evolve: ricParametersSet },
  RedButtonPressed: { evolve: redButtonPressed },
  RanHealthAsked: { evolve: ranHealthAsked },
  EnbAdded: { reads: readsOfNodeb, evolve: enbAdded },
  NodebUpdated: { reads: readsOfNodeb, evolve: nodebUpdated },
  EnbDeleted: { reads: readsOfNodeb, evolve: enbDeleted },
}

const NO_READS: Reads = { rows: [] }

function reads({ type, data }: KeepAliveEvent): Reads {
  return (folds[type] as Fold<unknown>).reads?.(data) ?? NO_READS
}

function evolve({ type, data }: KeepAliveEvent, context: Context): void {
  ;(folds[type] as Fold<unknown>).evolve(data, context)
}

/** A deadline's id: its kind, then its subject. */
function parts({ id }: Deadline): { readonly kind: DeadlineKind; readonly subject: string } {
  const end = id.indexOf(SEPARATOR)
  return { kind: id.slice(0, end) as DeadlineKind, subject: id.slice(end + 1) }
}

function readsOfDeadline(deadline: Deadline): Reads {
  const { kind, subject } = parts(deadline)
  return kind === 'seen' ? { rows: [{ table: seenMessages, key: subject }] } : NO_READS
}

function onDeadline(deadline: Deadline, context: Context): void {
  const { kind, subject } = parts(deadline)
  switch (kind) {
    case 'tick':
      tickDue(subject, context)
      break
    case 'deletion': {
      const [ric = '', address = ''] = subject.split(SEPARATOR)
      deletionDue(ric, address, deadline.due, context)
      break
    }
    case 'red-button':
      redButtonDue(subject, context)
      break
    case 'seen':
      messageForgotten(subject, context)
      break
  }
}
