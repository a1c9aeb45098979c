import type { FastifyInstance } from 'fastify'

export interface RouteTable {
  /** Methods under which the path of `url` is served; none: there is no such path. */
  methodsOf(url: string): readonly string[]
  /** All routes, as declared. */
  readonly routes: readonly { readonly method: string; readonly url: string }[]
}

/** Notes the routes that are declared from now on, so that a wrong method can be told from a wrong path. */
export function routeTable(app: FastifyInstance): RouteTable {
  const routes: { method: string; url: string; pattern: RegExp }[] = []
  app.addHook('onRoute', ({ method, url }) => {
    const pattern = new RegExp(`^${url.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:[A-Za-z]+/g, '[^/]+')}$`)
    for (const one of [method].flat()) routes.push({ method: one, url, pattern })
  })
  return {
    routes,
    methodsOf(url) {
      const path = /^[^?#]*/.exec(url)?.[0] ?? ''
      return [...new Set(routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))].sort()
    },
  }
}
