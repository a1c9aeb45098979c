import { ensureError } from '../../common/errors.js'
import type { KeyValueStore } from '../../state-stores/key-value-store.js'
import type { Application } from '../application.js'
import type { Table } from '../processor.js'
import type { Provenance } from '../streams.js'
import { digestOfRows, storeState } from './kept-state.js'

/** A copy of a partition's state that an instance holds, as of its last commit. JSON. */
export interface Copy {
  readonly domain: string
  readonly partition: number
  readonly role: Provenance['role']
  /** Journal offset (exclusive) that it stands for. */
  readonly offset: number
  readonly foldVersion: number
  /** Digest kept with that position, and digest of the rows themselves; null: they changed whenever they were summed. */
  readonly sealed: string
  readonly ofRows: string | null
}

/** What one instance holds, and where the others are. JSON. */
export interface Copies {
  /** Addresses of the other instances. */
  readonly others: readonly string[]
  readonly copies: readonly Copy[]
  /** Copies that could not be read, and why. */
  readonly unread: readonly string[]
}

/** What all instances hold that were asked; `unread`: what is missing of it, in words. */
export interface AllCopies {
  readonly copies: readonly (Copy & { readonly instance: string })[]
  readonly unread: readonly string[]
}

/** A copy that is written to while it is summed is summed again. */
const SUMMED_AT_MOST = 5

/** The copies that an instance holds, tasks' and standbys', each read through. */
export async function copiesOf(
  application: Pick<Application, 'tasks' | 'standbys' | 'directory' | 'processors'>,
): Promise<Copies> {
  const { tasks, standbys, directory, processors } = application
  const held = [
    ...tasks.map((task) => ({ holder: task, domain: task.processor.name, role: 'active' as const })),
    ...standbys.map((standby) => ({ holder: standby, domain: standby.domain, role: 'standby' as const })),
  ]
  const copies: Copy[] = []
  const unread: string[] = []
  for (const { holder, domain, role } of held) {
    const { partition } = holder
    const tables = processors.find(({ name }) => name === domain)?.tables ?? []
    try {
      copies.push({ domain, partition, role, ...(await sumOf(holder.rows.store, tables)) })
    } catch (thrown) {
      unread.push(`${role} ${domain}/${partition}: ${ensureError(thrown).message}`)
    }
  }
  return { others: directory.instances.filter(({ isSelf }) => !isSelf).map(({ url }) => url), copies, unread }
}

async function sumOf(
  store: KeyValueStore,
  tables: readonly Table<unknown>[],
): Promise<Pick<Copy, 'offset' | 'foldVersion' | 'sealed' | 'ofRows'>> {
  for (let summed = 1; ; summed++) {
    const before = await storeState(store)
    if (before === undefined) throw new Error('it has no position yet')
    const { offset, foldVersion, sealed } = before
    const ofRows = await digestOfRows(store, tables)
    const isSteady = (await storeState(store))?.offset === offset
    if (isSteady || summed === SUMMED_AT_MOST) return { offset, foldVersion, sealed, ofRows: isSteady ? ofRows : null }
  }
}
