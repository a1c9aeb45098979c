import { cut } from '../../common/errors.js'
import type { Input, Processor } from '../../topology/processor.js'
import { ApiError } from '../errors.js'

/** Where an event goes: the domain, and the input that decodes it. */
export interface EventRoute {
  readonly domain: string
  readonly input: Input
}

/** Finds the route of a type; undefined when no domain knows it. */
export type EventRouter = (type: string) => EventRoute | undefined

/** Routes by CloudEvents type; a declared type that ends in `*` matches the rest. */
export function routeByType(processors: readonly Processor[]): EventRouter {
  const exact = new Map<string, EventRoute>()
  const prefixes: (readonly [prefix: string, route: EventRoute])[] = []
  for (const route of routesOf(processors)) {
    for (const type of route.input.types) {
      if (type.endsWith('*')) prefixes.push([type.slice(0, -1), route])
      else exact.set(type, route)
    }
  }
  return (type) => exact.get(type) ?? prefixes.find(([prefix]) => type.startsWith(prefix))?.[1]
}

/** The input that reads this topic. Errors: PARAMETER_INVALID. */
export function routeOfTopic(processors: readonly Processor[], topic: string): EventRoute {
  const routes = routesOf(processors)
  const route = routes.find(({ input }) => input.topic === topic)
  if (route !== undefined) return route
  const known = routes.map(({ input }) => input.topic).join(', ')
  throw new ApiError('PARAMETER_INVALID', `topic: ${cut(topic)} is no input topic; these are: ${known}`)
}

function routesOf(processors: readonly Processor[]): readonly EventRoute[] {
  return processors.flatMap(({ name, inputs }) => inputs.map((input) => ({ domain: name, input })))
}
