import t from 'tap'
import type { Test } from 'tap'
import type { Settings } from '../../common/settings.js'
import { realBrokers } from '../../topology/log/kafka/real-brokers.js'
import { countingAll, OutcomeSender } from './outcome-sender.js'
import { settingsOfSites, TOKEN, TwoSites } from './two-sites.js'
import type { SiteName } from './two-sites.js'
import { until } from './until.js'

const brokers = realBrokers(t)
const DOMAINS = 3
const PARTITIONS = 3

/** Nothing happens but what is asked for: on a busy machine health addresses are late. */
async function calmSettings(t: Test, sharesLog: boolean): Promise<(name: SiteName) => Partial<Settings>> {
  const settings = await settingsOfSites(t, brokers, sharesLog)
  return (name) => ({ ...settings(name), ...countingAll, siteAutomaticSwitch: false, siteHealthIntervalMs: 1000 })
}

const clusters = [
  { sharesLog: false, where: 'a cluster each' },
  { sharesLog: true, where: 'one cluster for both' },
]

for (const { sharesLog, where } of brokers.length > 0 ? clusters : []) {
  t.test(
    `FO-01 two sites of two instances each, ${where}: kills and switches under load, and every call is counted once`,
    async (t) => {
      const sites = await TwoSites.start(t, await calmSettings(t, sharesLog))
      await Promise.all([sites.begin('primary', 2), sites.begin('secondary', 2)])
      const sender = new OutcomeSender(sites)
      await sender.begin()
      const isShared = async (name: 'primary' | 'secondary'): Promise<boolean> => {
        const live = await Promise.all(
          sites.processes[name].map((process) => process.metric('pulsefold_task_state', 'state="LIVE"')),
        )
        return live.length === 2 && live.every((count) => count > 0)
      }
      await until('both instances of the primary have tasks', () => isShared('primary'), 180_000)
      await until('some were taken', () => sender.rounds > 20)

      // Any instance may be asked, also at the wrong site.
      const [, other] = sites.processes.secondary
      t.match(await other?.json('/site/failover', { method: 'POST', body: {} }), { status: 'failovering', epoch: 2 })
      await sites.untilSaid('failover', 'primary', 'failovered')
      for (const process of sites.processes.primary) {
        await until('at 500', async () => (await process.ask('/notification/healthCheck')).status === 500)
      }
      for (const process of sites.processes.secondary) {
        await until('at 200', async () => (await process.ask('/notification/healthCheck')).status === 200)
        t.match(await process.json('/site'), {
          active: 'secondary',
          phase: 'STEADY',
          epoch: 2,
          lastSwitch: { lossWindowMs: 0 },
        })
      }
      await until('both instances of the secondary have tasks', () => isShared('secondary'), 180_000)
      await sender.untilTaken(20)
      await sender.check(t, 'secondary', 'after the failover')

      await sites.kill('secondary')
      await sender.untilTaken(20)
      t.match(
        await sites.status('secondary'),
        { epoch: 2, phase: 'STEADY' },
        'a site that loses an instance stays active',
      )
      await sender.check(t, 'secondary', 'after the kill of an instance of the active site')

      await sites.untilSaid('failback', 'secondary', 'failbacked')
      await sender.untilTaken(20)
      await sender.check(t, 'primary', 'after the failback')
      await sender.end()
      const sealed = await sites
        .site('primary')
        .json<unknown[]>('/site/digests', { headers: { authorization: `Bearer ${TOKEN}` } })
      t.equal(sealed.length, DOMAINS * PARTITIONS, 'each task has sealed its state')
      t.match(await sites.site('secondary').json('/site/drill', { method: 'POST' }), { equal: true, different: [] })
      t.comment(sender.told())
      t.comment(JSON.stringify((await sites.status('primary')).lastSwitch))
    },
  )
}
