import type { Subjects } from '../../topology/processor.js'
import { e2tInstances, keyOf, rans, rics } from './tables.js'

/** Audits ask about a RIC by its id, and about an E2T instance or a RAN as `RIC/address` and `RIC/name`. */
export const subjects: Subjects = {
  journalKey: (subject) => split(subject).ric,
  relatedRows(subject, get) {
    const { ric, name } = split(subject)
    if (name === undefined) {
      const addresses = get(rics, ric)?.addresses ?? []
      return addresses.map((address) => ({ table: e2tInstances, key: keyOf(ric, address) }))
    }
    const key = keyOf(ric, name)
    return [
      { table: e2tInstances, key },
      { table: rans, key },
    ]
  },
  state(subject, get) {
    const { ric, name } = split(subject)
    if (name === undefined) {
      const row = get(rics, ric)
      if (row === undefined) return null
      const instances = row.addresses.map((address) => [address, get(e2tInstances, keyOf(ric, address))?.state ?? null])
      return { enableRic: row.enableRic, ...(Object.fromEntries(instances) as Record<string, string | null>) }
    }
    const key = keyOf(ric, name)
    const ran = get(rans, key)
    if (ran !== undefined) return { state: ran.state, e2tAddress: ran.e2tAddress }
    const instance = get(e2tInstances, key)
    return instance === undefined ? null : { state: instance.state }
  },
}

function split(subject: string): { readonly ric: string; readonly name?: string } {
  const end = subject.indexOf('/')
  return end === -1 ? { ric: subject } : { ric: subject.slice(0, end), name: subject.slice(end + 1) }
}
