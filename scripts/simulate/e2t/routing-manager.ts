import { httpDouble } from './http-double.js'
import type { DoubleRequest, HttpDouble } from './http-double.js'

/** A Routing Manager that remembers what it was told. */
export interface RoutingManagerDouble extends HttpDouble {
  /** Instances with their RANs, as told. */
  readonly instances: ReadonlyMap<string, ReadonlySet<string>>
  /** Calls by method and path. */
  readonly calls: ReadonlyMap<string, number>
}

interface Told {
  readonly E2TAddress?: string
  readonly ranNamelist?: readonly string[]
}

export async function routingManagerDouble(port: number): Promise<RoutingManagerDouble> {
  const instances = new Map<string, Set<string>>()
  const calls = new Map<string, number>()
  const double = await httpDouble(port, (request) => {
    const name = `${request.method} ${request.path.split('/').at(-1) ?? ''}`
    calls.set(name, (calls.get(name) ?? 0) + 1)
    return { status: take(instances, name, request) }
  })
  // Its mode is set on the double itself.
  return Object.assign(double, { instances, calls })
}

function take(instances: Map<string, Set<string>>, name: string, { body }: DoubleRequest): number {
  const told = (Array.isArray(body) ? body : [body]) as readonly Told[]
  for (const { E2TAddress: address, ranNamelist } of told) {
    if (address === undefined) return 400
    if (name === 'DELETE e2t') instances.delete(address)
    else if (name === 'POST e2t') instances.set(address, instances.get(address) ?? new Set())
    else if (name === 'POST associate-ran-to-e2t') for (const ran of ranNamelist ?? []) instances.get(address)?.add(ran)
    else if (name === 'POST dissociate-ran') {
      if (ranNamelist === undefined) instances.get(address)?.clear()
      for (const ran of ranNamelist ?? []) instances.get(address)?.delete(ran)
    } else return 404
  }
  return 201
}
