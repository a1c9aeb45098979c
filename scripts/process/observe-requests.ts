import type { ApiServer } from '../../api/server.js'
import type { Metrics } from '../../common/metrics.js'

/** Counts and times every answer, by the pattern of its route; `none` where no route fits. Before the server starts. */
export function observeRequests(metrics: Metrics, app: ApiServer['app']): void {
  const counters = new Map<string, ReturnType<typeof metrics.counter>>()
  const histograms = new Map<string, ReturnType<typeof metrics.histogram>>()
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none'
    const { method } = request
    const status = reply.statusCode
    kept(counters, `${method} ${route} ${status}`, () =>
      metrics.counter('pulsefold_http_requests_total', { method, route, status }),
    ).increment()
    kept(histograms, route, () => metrics.histogram('pulsefold_http_request_duration_seconds', { route })).observe(
      reply.elapsedTime / 1000,
    )
    done()
  })
}

/** Looking a series up by its labels costs more than counting. */
function kept<Series>(all: Map<string, Series>, name: string, make: () => Series): Series {
  let series = all.get(name)
  if (series === undefined) all.set(name, (series = make()))
  return series
}
