/** A legal move of a state machine, as a page's table has it; null: there is no such thing (yet, or any more). */
export interface DocumentedMove {
  readonly from: readonly (string | null)[]
  readonly to: string | null
}

/** The moves in a page's tables `| move | from | to |`, by name; what stands in `from` behind a semicolon is a remark. For tests. */
export function documentedMoves(page: string): ReadonlyMap<string, DocumentedMove> {
  const moves = new Map<string, DocumentedMove>()
  for (const [, rows = ''] of page.matchAll(/^\| move .*\n\|[- |]+\n((?:\|.*\n)+)/gm)) {
    for (const [, move = '', from = '', to = ''] of rows.matchAll(/^\| `(\w+)` +\| ([^|]+?) +\| (\S+) +\|/gm)) {
      const [states = ''] = from.split(';')
      moves.set(move, { from: states.split(', ').map(stateOf), to: stateOf(to) })
    }
  }
  return moves
}

/** What is drawn on a page: its code blocks without a language. */
export function drawingsOf(page: string): readonly string[] {
  const blocks = Array.from(page.matchAll(/^```(\w*)\n([^]*?)^```/gm))
  return blocks.flatMap(([, language, text = '']) => (language === '' ? [text] : []))
}

const stateOf = (text: string): string | null => (text === '–' ? null : text)
