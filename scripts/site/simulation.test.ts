import t from 'tap'
import { otherSite } from '../../processors/site/index.js'
import { siteInstances } from '../simulations/site-instances.js'
import { sites as simulation } from '../simulations/sites.js'
import { TestSites } from './test-sites.js'

t.setTimeout(300_000)

const by = { actor: 'simulation', reason: '', forwarded: false }

for (let seed = 1; seed <= 24; seed++) {
  t.test(`seed ${seed}: acts, broken links, wrong clocks and crashes end with one active site that has all`, (t) =>
    t.resolves(simulation.run(seed)),
  )
}

t.test(
  '1,000 events a second through a failover and a failback: none lost, none twice, never both at 500',
  async (t) => {
    const sites = new TestSites()
    t.teardown(() => sites.stop())
    await sites.start()
    const acknowledged = new Map<string, number>()
    let next = 0
    let wereBothDown = false
    sites.onStep = () => {
      wereBothDown ||= !sites.both.some((site) => site.takesTraffic)
      // As DNS sends it: to whoever says 200, the primary where both do.
      const taker = sites.both.find((site) => site.takesTraffic)
      for (let n = 0; n < 50; n++) {
        const key = `key-${next++ % 500}`
        // One that has just given way passes it on.
        taker
          ?.count(key)
          .catch(() => sites.of(otherSite(taker.name)).count(key))
          .then(
            () => acknowledged.set(key, (acknowledged.get(key) ?? 0) + 1),
            () => undefined,
          )
      }
    }
    await sites.advance(2000)
    for (const [act, target] of [
      ['failover', 'secondary'],
      ['failback', 'primary'],
    ] as const) {
      await sites.while(sites.primary.site.act(act, by))
      await sites.until(`${act}ed`, () => sites.isSteady() && sites.of(target).consumes)
      await sites.advance(1000)
    }
    sites.onStep = () => undefined
    await sites.advance(2000)
    t.notOk(wereBothDown, 'never both at 500')
    const counted = new Map<string, number | undefined>()
    for (const key of acknowledged.keys()) counted.set(key, await sites.primary.countOf(key))
    t.same(counted, acknowledged)
    const all = [...acknowledged.values()].reduce((sum, count) => sum + count, 0)
    t.ok(all > 0.9 * next, `${all} of ${next} were taken; those refused at the switch are the sender's to repeat`)
  },
)

/** An instance dies while its group shares tasks out anew, and the site gives way. */
const DYING_IN_A_REBALANCE = 10_128_052

for (const seed of [...Array.from({ length: 16 }, (_, index) => index + 1), DYING_IN_A_REBALANCE]) {
  t.test(
    `seed ${seed}: sites of several instances, killed and paused in any phase, end with one active site that has all`,
    (t) => t.resolves(siteInstances.run(seed)),
  )
}
