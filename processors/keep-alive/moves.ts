/** The legal moves of a state machine by their reasons; null: there is no such thing (yet, or any more). */
export type Moves<State extends string> = Readonly<
  Record<string, { readonly from: readonly (State | null)[]; readonly to: State | null }>
>

export const E2T_STATES = ['REGISTERING', 'ACTIVE', 'TO_BE_DELETED'] as const
export type E2tState = (typeof E2T_STATES)[number]

/** Moves of an E2T instance; drawn in README.md. */
export const e2tMoves = {
  initReceived: { from: [null], to: 'REGISTERING' },
  routingManagerAccepted: { from: ['REGISTERING'], to: 'ACTIVE' },
  routingManagerRefused: { from: ['REGISTERING'], to: null },
  fellSilent: { from: ['ACTIVE'], to: 'TO_BE_DELETED' },
  routingManagerTold: { from: ['TO_BE_DELETED'], to: null },
  deletionTimedOut: { from: ['TO_BE_DELETED'], to: null },
} as const satisfies Moves<E2tState>

export type E2tMove = keyof typeof e2tMoves

/** Those of upstream's connection statuses that a RAN here can have. */
export const RAN_STATES = ['DISCONNECTED', 'CONNECTING', 'CONNECTED', 'SHUTTING_DOWN', 'SHUT_DOWN'] as const
export type RanState = (typeof RAN_STATES)[number]

const anyButShutDown = ['DISCONNECTED', 'CONNECTING', 'CONNECTED', 'SHUTTING_DOWN'] as const

/** Moves of a RAN; drawn in README.md. */
export const ranMoves = {
  added: { from: [null], to: 'DISCONNECTED' },
  deleted: { from: [...anyButShutDown, 'SHUT_DOWN'], to: null },
  setUp: { from: [null, 'DISCONNECTED', 'CONNECTING', 'CONNECTED', 'SHUT_DOWN'], to: 'CONNECTED' },
  setUpAwaited: { from: [null, 'DISCONNECTED', 'CONNECTING', 'SHUT_DOWN'], to: 'CONNECTING' },
  associated: { from: ['CONNECTING', 'CONNECTED'], to: 'CONNECTED' },
  associationFailed: { from: ['CONNECTING', 'CONNECTED'], to: 'DISCONNECTED' },
  connectionLost: { from: ['DISCONNECTED', 'CONNECTING', 'CONNECTED'], to: 'DISCONNECTED' },
  instanceRestarted: { from: ['DISCONNECTED', 'CONNECTING', 'CONNECTED'], to: 'DISCONNECTED' },
  instanceKilled: { from: ['DISCONNECTED', 'CONNECTING', 'CONNECTED'], to: 'DISCONNECTED' },
  redButtonPressed: { from: ['DISCONNECTED', 'CONNECTING', 'CONNECTED'], to: 'SHUTTING_DOWN' },
  shutDownAtOnce: { from: anyButShutDown, to: 'SHUT_DOWN' },
  connectionLostShuttingDown: { from: ['SHUTTING_DOWN'], to: 'SHUT_DOWN' },
  shutDownTimedOut: { from: ['SHUTTING_DOWN'], to: 'SHUT_DOWN' },
} as const satisfies Moves<RanState>

export type RanMove = keyof typeof ranMoves

/** Where a move leads from `state`. Throws TypeError where the table has no such move. */
export function moved<Table extends Moves<string>, Reason extends keyof Table & string>(
  moves: Table,
  reason: Reason,
  state: string | null,
): Table[Reason]['to'] {
  const move = moves[reason] as Moves<string>[string]
  if (!move.from.includes(state)) throw new TypeError(`there is no move ${reason} from ${state ?? 'nothing'}`)
  return move.to
}
