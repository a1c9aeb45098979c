import type { ApiServer } from '../../api/server.js'
import type { Metrics } from '../../common/metrics.js'

/** Counts and times every answer, by the pattern of its route; `none` where no route fits. Before the server starts. */
export function observeRequests(metrics: Metrics, app: ApiServer['app']): void {
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none'
    const { method } = request
    metrics.counter('pulsefold_http_requests_total', { method, route, status: reply.statusCode }).increment()
    metrics.histogram('pulsefold_http_request_duration_seconds', { route }).observe(reply.elapsedTime / 1000)
    done()
  })
}
