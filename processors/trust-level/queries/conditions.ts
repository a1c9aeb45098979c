import { assertNever } from '../../../common/errors.js'
import type { TrustLevel } from '../../../schemas/trust-level/journal-events.js'
import { upstreamTime } from '../../../schemas/trust-level/upstream-time.js'
import type { CmHandleRow } from '../tables.js'
import type { Condition, RegistryLeaf } from '../views.js'

/** A search made ready: what an index answers, and what must be asked of each row. null: nothing can match. */
export interface SearchPlan {
  readonly level: TrustLevel | null
  /** Narrows by index; matching by it is exact. */
  readonly dmiPlugin: string | null
  /** Candidates by id. */
  readonly ids: readonly string[] | null
  readonly ofRows: readonly RowCondition[]
}

export type RowCondition = Exclude<Condition, { readonly kind: 'trustLevel' | 'nothing' }>

/** The only state that a handle here can have. */
const STATE = 'READY'

export function planSearch(conditions: readonly Condition[]): SearchPlan | null {
  let level: TrustLevel | null = null
  let dmiPlugin: string | null = null
  let ids: readonly string[] | null = null
  const ofRows: RowCondition[] = []
  for (const condition of conditions) {
    if (condition.kind === 'nothing') return null
    if (condition.kind === 'trustLevel') {
      if (level !== null && level !== condition.level) return null
      level = condition.level
    } else if (condition.kind === 'leaf' && condition.leaf === 'state/cm-handle-state') {
      if (!condition.values.includes(STATE)) return null
    } else if (condition.kind === 'leaf' && condition.leaf === 'id' && ids === null) {
      ids = condition.values
    } else if (condition.kind === 'dmiPlugin' && dmiPlugin === null) {
      dmiPlugin = condition.name
    } else {
      ofRows.push(condition)
    }
  }
  return { level, dmiPlugin, ids, ofRows }
}

export function matchesRow(id: string, row: CmHandleRow, condition: RowCondition): boolean {
  switch (condition.kind) {
    case 'publicProperties':
      return condition.properties.every(([name, value]) => valueOf(row.publicProperties, name) === value)
    case 'additionalProperties':
      return condition.properties.every(([name, value]) => valueOf(row.additionalProperties, name) === value)
    case 'publicProperty': {
      const value = valueOf(row.publicProperties, condition.name)
      return value !== undefined && (condition.value === null || value === condition.value)
    }
    case 'dmiPlugin':
      return namesPlugin(row, condition.name)
    case 'leaf':
      return condition.values.includes(leafOf(id, row, condition.leaf))
    default:
      return assertNever(condition)
  }
}

/** Names of data-job plugins are not searched. (trust levels, section 2) */
export function namesPlugin(row: CmHandleRow, name: string): boolean {
  return row.dmiPlugin === name || row.dmiDataPlugin === name || row.dmiModelPlugin === name
}

function valueOf(properties: CmHandleRow['publicProperties'], name: string): string | undefined {
  return properties.find((property) => property.name === name)?.value
}

function leafOf(id: string, row: CmHandleRow, leaf: RegistryLeaf): string {
  switch (leaf) {
    case 'id':
      return id
    case 'dmi-service-name':
      return row.dmiPlugin
    case 'dmi-data-service-name':
      return row.dmiDataPlugin
    case 'dmi-model-service-name':
      return row.dmiModelPlugin
    case 'module-set-tag':
      return row.moduleSetTag
    case 'alternate-id':
      return row.alternateId
    case 'data-producer-identifier':
      return row.dataProducerIdentifier
    case 'state/cm-handle-state':
      return STATE
    case 'state/last-update-time':
      return upstreamTime(row.lastUpdateTime)
    case 'state/data-sync-enabled':
      return String(row.dataSyncEnabled)
    default:
      return assertNever(leaf)
  }
}
