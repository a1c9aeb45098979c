/** A platform as `GET /external-platforms/{name}` answers it. */
export interface ShownPlatform {
  readonly name: string
  readonly selectionMode: string
  readonly detectInterval: number
  readonly detectThreshold: number
  readonly retryInterval: number
  readonly retryAttempts: number
  readonly minCalls: number
  readonly panicMode: boolean
  readonly addresses: readonly ShownAddress[]
}

export interface ShownAddress {
  readonly position: number
  readonly address: string
  readonly state: string
  readonly since: string
  readonly window: { readonly calls: number; readonly failed: number }
  readonly retry: { readonly successes: number; readonly nextAt: string | null }
}

const HEADER = ['position', 'address', 'state', 'since', 'calls', 'failed', 'retries', 'next retry']
const NUMBERS: ReadonlySet<string> = new Set(['position', 'calls', 'failed', 'retries'])

/** A platform as text for people: its parameters, and its addresses as a table. */
export function platformLines(platform: ShownPlatform): readonly string[] {
  const { name, selectionMode, detectInterval, detectThreshold, minCalls, panicMode } = platform
  const { retryInterval, retryAttempts, addresses } = platform
  const detection =
    detectInterval === 0
      ? 'no detection'
      : `failed at ${detectThreshold * 100} % of ${minCalls} or more calls in ${detectInterval} ms`
  const repair =
    retryInterval === 0
      ? 'no automatic repair'
      : `repaired by ${retryAttempts} retries in a row, each ${retryInterval} ms`
  const head = [name, selectionMode, detection, repair, ...(panicMode ? ['panic mode'] : [])].join('; ')
  if (addresses.length === 0) return [head, '  no addresses']
  const cells = [HEADER, ...addresses.map((address) => cellsOf(address, retryAttempts))]
  const widths = HEADER.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)))
  return [head, ...cells.map((line) => `  ${lineText(line, widths)}`)]
}

function cellsOf({ position, address, state, since, window, retry }: ShownAddress, attempts: number): string[] {
  const isFailed = state === 'failed'
  return [
    String(position),
    address,
    state,
    since,
    String(window.calls),
    String(window.failed),
    isFailed ? `${retry.successes}/${attempts}` : '',
    isFailed ? (retry.nextAt ?? 'by hand') : '',
  ]
}

function lineText(line: readonly string[], widths: readonly number[]): string {
  const padded = line.map((cell, column) => {
    const width = widths[column] ?? 0
    return NUMBERS.has(HEADER[column] ?? '') ? cell.padStart(width) : cell.padEnd(width)
  })
  return padded.join('  ').trimEnd()
}
