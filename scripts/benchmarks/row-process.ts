import type { Figure } from './figure.js'
import type { RowName } from './row-names.js'
import { audit } from './rows/audit.js'
import { burst } from './rows/burst.js'
import { forward } from './rows/forward.js'
import { kafka } from './rows/kafka.js'
import { memory } from './rows/memory.js'
import { outcomes } from './rows/outcomes.js'
import { pluginDown } from './rows/plugin-down.js'
import { preload } from './rows/preload.js'
import { keepAlive } from './rows/keep-alive.js'
import { raw } from './rows/raw.js'
import { reads } from './rows/reads.js'
import { registration } from './rows/registration.js'
import { replayed } from './rows/replay.js'
import { search } from './rows/search.js'
import { selections } from './rows/selections.js'
import { steady } from './rows/steady.js'
import { steadyKafka } from './rows/steady-kafka.js'

/** Measures one thing; `directory` is empty and its own. */
export type Row = (directory: string) => Promise<readonly Figure[]>

const rows: Readonly<Record<RowName, Row>> = {
  raw,
  burst,
  steady,
  'plugin-down': pluginDown,
  search,
  reads,
  forward,
  kafka,
  'steady-kafka': steadyKafka,
  registration,
  outcomes,
  selections,
  'keep-alive': keepAlive,
  replay: replayed,
  audit,
  preload,
  memory,
}

// The process that measures one row: `row-process.js <row> <directory>`; sends its figures to the parent.
const [name, directory] = process.argv.slice(2) as [RowName, string]
process.send?.(await rows[name](directory))
process.disconnect()
