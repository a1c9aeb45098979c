import type { Metrics } from '../../common/metrics.js'
import { phases } from '../../processors/site/index.js'
import type { SiteControl } from '../../api/site/site-control.js'

/** Brings the gauges of one of two sites up to date whenever the metrics are read. */
export function observeSite(metrics: Metrics, control: Pick<SiteControl, 'site' | 'status'>): void {
  metrics.beforeText(() => {
    const { site, record, mirrorLagMs } = control.status()
    for (const phase of phases) {
      if (phase !== record.phase) metrics.forget('pulsefold_site_active', { site, phase })
    }
    metrics.gauge('pulsefold_site_active', { site, phase: record.phase }).set(record.active === site ? 1 : 0)
    metrics.gauge('pulsefold_site_epoch', { site }).set(record.epoch)
    if (mirrorLagMs !== null) metrics.gauge('pulsefold_mirror_lag_seconds', { site }).set(mirrorLagMs / 1000)
    return Promise.resolve()
  })
}
