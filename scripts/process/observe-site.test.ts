import t from 'tap'
import { createMetrics } from '../../common/metrics.js'
import { initialRecord } from '../../processors/site/index.js'
import type { SiteStatus } from '../../api/site/site-control.js'
import { observeSite } from './observe-site.js'

t.test('tells the role, the epoch and the age of the mirror as they are when asked', async (t) => {
  const metrics = createMetrics()
  t.teardown(() => metrics.close())
  let status: SiteStatus = {
    site: 'secondary',
    record: initialRecord,
    base: 0,
    mirrorLagMs: null,
    overlap: null,
    knownFrom: 0,
    peer: { url: '', healthy: true },
    ...{ loadedTo: 0, events: 0, eventsPerSecond: 0, etaMs: null },
  }
  observeSite(metrics, { site: 'secondary', status: () => status })
  const lines = async (): Promise<string[]> =>
    (await metrics.text()).split('\n').filter((line) => /^pulsefold_(site|mirror)/.test(line))
  t.same(await lines(), [
    'pulsefold_site_active{site="secondary",phase="STEADY"} 0',
    'pulsefold_site_epoch{site="secondary"} 1',
  ])
  status = {
    ...status,
    mirrorLagMs: 1500,
    record: { ...initialRecord, epoch: 2, phase: 'CATCHUP', active: 'secondary' },
  }
  t.same(await lines(), [
    'pulsefold_site_active{site="secondary",phase="CATCHUP"} 1',
    'pulsefold_site_epoch{site="secondary"} 2',
    'pulsefold_mirror_lag_seconds{site="secondary"} 1.5',
  ])
})
