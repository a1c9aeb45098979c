import type { Phase, SiteRecord } from './site-record.js'

/**
 * The register's phases. The target makes all moves but the first arrow's request may reach either site; the other site
 * learns of them, and a record of a lower epoch changes nothing.
 *
 *              requested              loaded              fenced               caught up
 *     STEADY ─────────────> PRELOAD ──────────> SWITCH ───────────> CATCHUP ─────────────> STEADY
 *       ^                   │  │  ^            target is           old site is            target consumes
 *       └──── aborted ──────┘  │  │            active, 200         fenced, or gone
 *                              │  └── retried (cleared, from the start); old site died (goes on as automatic)
 *                              │
 *                              └── failed ──> FAILED ── requested ──> PRELOAD
 *                                             old site stays active
 *
 * A new epoch begins with `requested`, `aborted` and `takenBack`: a target that fails its checks when nobody else works any more
 * is replaced by the other site, which begins a switch to itself. But for that nothing leads back from SWITCH and CATCHUP: the
 * target has taken events by then, so it goes on, over restarts too, until it has caught up.
 */
export const moves = {
  requested: { from: ['STEADY', 'FAILED'], to: 'PRELOAD' },
  takenBack: { from: ['PRELOAD', 'SWITCH', 'CATCHUP'], to: 'PRELOAD' },
  oldSiteDied: { from: ['PRELOAD'], to: 'PRELOAD' },
  retried: { from: ['PRELOAD'], to: 'PRELOAD' },
  loaded: { from: ['PRELOAD'], to: 'SWITCH' },
  fenced: { from: ['SWITCH'], to: 'CATCHUP' },
  caughtUp: { from: ['CATCHUP'], to: 'STEADY' },
  failed: { from: ['PRELOAD'], to: 'FAILED' },
  aborted: { from: ['PRELOAD'], to: 'STEADY' },
} as const satisfies Readonly<Record<string, { readonly from: readonly Phase[]; readonly to: Phase }>>

export type Move = keyof typeof moves

/** Moves that the target reports of a switch under way. */
export const reportedMoves = ['retried', 'loaded', 'fenced', 'caughtUp', 'failed', 'aborted'] as const
export type ReportedMove = (typeof reportedMoves)[number]

export function isLegal(move: Move, { phase }: SiteRecord): boolean {
  return (moves[move].from as readonly Phase[]).includes(phase)
}

/** The record after a move; `details` are what it changes besides. Undefined: it cannot be made from this phase. */
export function moved(
  record: SiteRecord,
  move: Move,
  time: number,
  details: Partial<SiteRecord> = {},
): SiteRecord | undefined {
  if (!isLegal(move, record)) return undefined
  return { ...record, phase: moves[move].to, since: time, step: record.step + 1, ...details }
}
