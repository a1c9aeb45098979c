import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { foreignClient } from '../../topology/log/kafka/foreign-client.js'
import { realBrokers } from '../../topology/log/kafka/real-brokers.js'
import { heartbeat, PLUGIN } from './fixtures.js'
import type { Level } from './http-client.js'
import { DEVICES, devices, Reporter, settingsOfSites, TwoSites } from './two-sites.js'
import type { SiteName } from './two-sites.js'
import { until } from './until.js'

const brokers = realBrokers(t)
/** Rounds that wait behind a switch must not be more than a slow machine folds in time. */
const REPORT_EVERY_MS = 100
const patienceMs = 180_000

if (brokers.length > 0) {
  t.test(
    'FO-01 two sites with a cluster each: failover and failback under 1,000 events a second lose nothing',
    async (t) => {
      const sites = await TwoSites.start(t, await settingsOfSites(t, brokers, false))
      await sites.site('primary').register(PLUGIN, devices)
      const reporter = new Reporter(sites, 'primary')
      await until('some were taken', () => reporter.last.size === DEVICES)
      for (const [act, old, target] of [
        ['failover', 'primary', 'secondary'],
        ['failback', 'secondary', 'primary'],
      ] as const) {
        t.equal(await sites.said(act, old), `${act}ing`)
        await sites.untilSaid(act, old, `${act}ed`)
        await until('the old site is at 500', () => sites.healthIs(old, 500))
        t.equal(await sites.health(target), 200)
        const { lastSwitch, epoch } = await sites.status(target)
        t.equal(lastSwitch?.lossWindowMs, 0)
        t.equal(epoch, act === 'failover' ? 2 : 3, 'one run')
        const rounds = reporter.rounds
        await until('it goes on there', () => reporter.rounds > rounds + 5)
      }
      await reporter.stop()
      await until('all is folded', async () => (await reporter.lost('primary')).length === 0).catch(() => undefined)
      t.same(await reporter.lost('primary'), [])
      t.comment(JSON.stringify((await sites.status('primary')).lastSwitch))
    },
  )

  t.test('two sites on one cluster: what their input topic gets through switches is read on', async (t) => {
    const settings = await settingsOfSites(t, brokers, true)
    const topic = String(settings('primary').heartbeatTopic)
    const sites = await TwoSites.start(t, settings)
    const { append } = await foreignClient(t, brokers)
    await sites.site('primary').register(PLUGIN, devices)
    let round = 0
    const levelOf = (of: number): Level => (of % 2 === 0 ? 'NONE' : 'COMPLETE')
    const report = async (): Promise<void> => {
      const level = levelOf(round++)
      for (const partition of [0, 1, 2]) {
        const some = devices.filter((_, index) => index % 3 === partition)
        await append(
          { topic, partition },
          some.map((device) => heartbeat(device, level)),
        )
      }
    }
    const allRead = async (at: SiteName): Promise<boolean> => {
      const levels = await Promise.all(
        [...devices.slice(0, 5), ...devices.slice(-5)].map((d) => sites.site(at).level(d)),
      )
      return levels.every((level) => level === levelOf(round - 1))
    }
    await report()
    await until('the first round is folded', () => allRead('primary'), patienceMs)
    for (const [act, old, target] of [
      ['failover', 'primary', 'secondary'],
      ['failback', 'secondary', 'primary'],
    ] as const) {
      let isDone = false
      const reporting = (async () => {
        while (!isDone) {
          await report()
          await pause(REPORT_EVERY_MS)
        }
      })()
      t.equal(await sites.said(act, old), `${act}ing`)
      await sites.untilSaid(act, old, `${act}ed`)
      isDone = true
      await reporting
      t.equal((await sites.status(target)).lastSwitch?.lossWindowMs, 0)
      await until('the last round is folded', () => allRead(target), patienceMs)
    }
    await sites.kill('primary')
    await report()
    await until('taken over', () => sites.healthIs('secondary', 200), 180_000)
    await until('steady', async () => (await sites.status('secondary')).phase === 'STEADY')
    await until('what came to the input meanwhile is folded', () => allRead('secondary'), patienceMs)
  })
}
