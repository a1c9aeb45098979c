import type { Query, QueryReader } from '../../topology/processor.js'
import { e2tInstances, keyOf, nameIn, nodebs, rans, rics, routingManagerCalls, SEPARATOR } from './tables.js'
import type { RanRow } from './tables.js'
import type {
  E2tInstanceView,
  NodebView,
  OfRicArguments,
  OwedCallView,
  RanView,
  RicView,
  SelectionView,
} from './views.js'

/** Instances that are stored, in the order of their registration, with their RANs. (GET e2t/list) */
const e2tInstancesQuery: Query<OfRicArguments, readonly E2tInstanceView[]> = {
  name: 'e2t-instances',
  run: (reader, { ric }) => {
    const ranNames = new Map<string, string[]>()
    for (const { ranName, e2tAddress } of ransOf(reader, ric)) {
      const ofInstance = ranNames.get(e2tAddress)
      if (ofInstance === undefined) ranNames.set(e2tAddress, [ranName])
      else ofInstance.push(ranName)
    }
    const views = addressesOf(reader, ric).flatMap((e2tAddress) => {
      const instance = reader.residentRow(e2tInstances, keyOf(ric, e2tAddress))
      if (instance === undefined) return []
      const { state, podName } = instance
      return [{ e2tAddress, state, podName, ranNames: ranNames.get(e2tAddress) ?? [] }]
    })
    return Promise.resolve(views)
  },
}

/** The active instance with the fewest RANs, the one registered first among equals; null: there is none. */
const selectionQuery: Query<OfRicArguments, SelectionView | null> = {
  name: 'selection',
  run: (reader, { ric }) => {
    let best: SelectionView | null = null
    for (const e2tAddress of addressesOf(reader, ric)) {
      const instance = reader.residentRow(e2tInstances, keyOf(ric, e2tAddress))
      if (instance?.state !== 'ACTIVE' || (best !== null && best.ranCount <= instance.ranCount)) continue
      best = { e2tAddress, ranCount: instance.ranCount }
    }
    return Promise.resolve(best)
  },
}

/** All RANs of a RIC, in the order of their names. (GET nodeb/states) */
const ransQuery: Query<OfRicArguments, readonly RanView[]> = {
  name: 'rans',
  run: (reader, { ric }) => Promise.resolve(ransOf(reader, ric)),
}

/** null: it is not known. (GET nodeb/{ranName}) */
const nodebQuery: Query<OfRicArguments & { readonly ranName: string }, NodebView | null> = {
  name: 'nodeb',
  async run(reader, { ric, ranName }) {
    const key = keyOf(ric, ranName)
    // A row in memory is read after the one from the store: what is gone meanwhile is not half there.
    const nodeb = await reader.get(nodebs, key)
    const ran = reader.residentRow(rans, key)
    return nodeb === undefined || ran === undefined ? null : { ran: { ranName, ...ran }, nodeb }
  },
}

/** (GET symptomdata) */
const nodebsQuery: Query<OfRicArguments, readonly NodebView[]> = {
  name: 'nodebs',
  async run(reader, { ric }) {
    const all = ransOf(reader, ric)
    const known = await reader.getMany(
      nodebs,
      all.map(({ ranName }) => keyOf(ric, ranName)),
    )
    return all.flatMap((ran, i) => {
      const nodeb = known[i]
      return nodeb === undefined ? [] : [{ ran, nodeb }]
    })
  },
}

const ricQuery: Query<OfRicArguments, RicView> = {
  name: 'ric',
  run: (reader, { ric }) => {
    const row = reader.residentRow(rics, ric)
    return Promise.resolve({ enableRic: row?.enableRic ?? true, isShuttingDown: (row?.redButtonDue ?? 0) !== 0 })
  },
}

/** Whether the store can be read: looks for rows that are not there, past all caches. Rejects as the store does. (GET health) */
const healthQuery: Query<OfRicArguments, true> = {
  name: 'health',
  async run(reader, { ric }) {
    const none = reader.rows(nodebs, { prefix: keyOf(ric, '', '') })
    await none[Symbol.asyncIterator]().next()
    return true
  },
}

/** What is owed to the Routing Manager by a partition's RICs, oldest first. */
const owedCallsQuery: Query<object, readonly OwedCallView[]> = {
  name: 'owed-calls',
  run: (reader) => {
    const owed = Array.from(reader.resident(routingManagerCalls), ([key, { purpose, ranNames, since }]) => {
      const [ric = '', e2tAddress = ''] = key.split(SEPARATOR)
      return { ric, e2tAddress, purpose, ranNames, since }
    })
    return Promise.resolve(owed.sort((a, b) => a.since - b.since))
  },
}

export const keepAliveQueries = {
  e2tInstances: e2tInstancesQuery,
  selection: selectionQuery,
  rans: ransQuery,
  nodeb: nodebQuery,
  nodebs: nodebsQuery,
  ric: ricQuery,
  health: healthQuery,
  owedCalls: owedCallsQuery,
} as const

function addressesOf(reader: QueryReader, ric: string): readonly string[] {
  return reader.residentRow(rics, ric)?.addresses ?? []
}

function ransOf(reader: QueryReader, ric: string): readonly RanView[] {
  const prefix = ric + SEPARATOR
  const views: (RanRow & { readonly ranName: string })[] = []
  for (const [key, row] of reader.resident(rans)) {
    if (key.startsWith(prefix)) views.push({ ranName: nameIn(ric, key), ...row })
  }
  return views
}
