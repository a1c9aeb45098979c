import t from 'tap'
import { seededRandom } from '../../common/random.js'
import type { SiteName } from '../../processors/site/index.js'
import { phases, siteNames } from '../../processors/site/index.js'
import { TestSites } from './test-sites.js'

/** Runs of one seed each: events all the time, and every few seconds something that an operator, a network or a machine does. */
const SEEDS = Array.from({ length: Number(process.env['PULSEFOLD_SITE_SEEDS'] ?? 24) }, (_, seed) => seed + 1)
const STEPS = 10
const KEYS = 15
/** Longer than a site that was not heard of is waited for: the other takes over meanwhile. */
const LONG_MS = 50_000

const by = { actor: 'simulation', reason: '', forwarded: false }
const happenings = [
  'failover',
  'failback',
  'abort',
  'cut',
  'crash waiting',
  'crash active',
  'crash in a phase',
  'step a clock',
  'nothing',
] as const

for (const seed of SEEDS) {
  t.test(
    `seed ${seed}: acts, broken links, wrong clocks and crashes end with one active site that has all`,
    async (t) => {
      const random = seededRandom(seed)
      const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item
      const skewMs = Math.round((random() - 0.5) * 120_000)
      const sites = new TestSites({ random, skewMs, settings: { failbackHoldOffMs: 20_000 } })
      t.teardown(() => sites.stop())
      const story: string[] = [`skew ${skewMs} ms`]
      const acknowledged = new Map<string, number>()
      const sent = new Map<string, number>()
      /** Events may be lost only where a site was cut off or died before its journal was copied. */
      let mayLose = false
      let isSending = false
      let next = 0
      const send = (): void => {
        const key = `key-${next++ % KEYS}`
        const taker = sites.both.find((site) => site.running?.site.role.takesEvents === true)
        if (taker === undefined) return
        sent.set(key, (sent.get(key) ?? 0) + 1)
        taker.count(key).then(
          () => acknowledged.set(key, (acknowledged.get(key) ?? 0) + 1),
          () => undefined,
        )
      }
      const violations = new Set<string>()
      sites.onStep = () => {
        if (isSending) send()
        const [a, b] = sites.both.map((site) => site.running?.site)
        const { epoch } = a?.record ?? {}
        if (a?.role.consumes === true && b?.role.consumes === true && epoch === b.record.epoch) {
          violations.add(`both are active in epoch ${epoch}, after ${story.join(', ')}`)
        }
      }
      const startDead = async (): Promise<void> => {
        for (const site of sites.both) if (site.running === undefined) await sites.while(site.start())
      }
      await sites.start()
      for (let step = 0; step < STEPS; step++) {
        isSending = true
        await sites.advance(500 + Math.floor(random() * 4) * 1000)
        isSending = false
        const site = sites.of(pick(siteNames))
        const what = pick(happenings)
        switch (what) {
          case 'nothing':
            story.push(what)
            break
          case 'step a clock':
            site.skewMs += Math.round((random() - 0.5) * 60_000)
            story.push(`the ${site.name} site's clock is ${site.skewMs} ms off`)
            break
          case 'cut': {
            const cutMs = pick([500, 5000, 5000, LONG_MS])
            mayLose ||= cutMs === LONG_MS
            story.push(`cut for ${cutMs} ms`)
            sites.link.isUp = false
            await sites.advance(cutMs)
            sites.link.isUp = true
            await sites.advance(2000)
            break
          }
          case 'crash in a phase': {
            const phase = pick(phases)
            story.push(`crash of the ${site.name} site when it gets to ${phase}`)
            site.onRecord = (record) => {
              if (record.phase !== phase) return
              site.onRecord = undefined
              site.crash()
            }
            break
          }
          case 'crash waiting':
          case 'crash active': {
            const victim = sites.both.find((candidate) => candidate.consumes === (what === 'crash active')) ?? site
            const downMs = pick([1000, 1000, LONG_MS])
            mayLose ||= downMs === LONG_MS && victim.running?.site.record.active === victim.name
            story.push(`crash of the ${victim.name} site for ${downMs} ms`)
            victim.crash()
            await sites.advance(downMs)
            break
          }
          default:
            story.push(`${what} at the ${site.name} site`)
            if (site.running !== undefined) await sites.while(site.site.act(what, by).catch(() => undefined))
        }
        await startDead()
      }
      for (const site of sites.both) site.onRecord = undefined
      await startDead()
      await sites.until(`one active site (${story.join(', ')})`, () => sites.isSteady(), 300_000)
      await sites.advance(3000)
      t.same([...violations], [])
      const active = sites.both.find((site) => site.consumes)
      for (const [key, count] of acknowledged) {
        const counted = (await active?.countOf(key)) ?? 0
        t.ok(counted <= (sent.get(key) ?? 0), `${key}: ${counted} of ${sent.get(key) ?? 0} sent, none twice`)
        if (!mayLose) t.ok(counted >= count, `${key}: ${counted} for ${count} acknowledged, none lost`)
      }
      const waiting = sites.both.find((site) => !site.consumes)
      if (!mayLose) {
        const report = await sites.while(
          waiting?.site.drill(new AbortController().signal) ?? Promise.reject(new Error('none')),
        )
        t.match(report, { equal: true }, 'the waiting site would load the same state')
      }
      t.comment(story.join(', '))
    },
  )
}

t.test(
  '1,000 events a second through a failover and a failback: none lost, none twice, never both at 500',
  async (t) => {
    const sites = new TestSites()
    t.teardown(() => sites.stop())
    await sites.start()
    const acknowledged = new Map<string, number>()
    const refused = new Set<SiteName>()
    let next = 0
    let wereBothDown = false
    sites.onStep = () => {
      wereBothDown ||= !sites.both.some((site) => site.takesTraffic)
      // As DNS sends it: to whoever says 200, the primary where both do.
      const taker = sites.both.find((site) => site.takesTraffic)
      for (let n = 0; n < 50; n++) {
        const key = `key-${next++ % 500}`
        taker?.count(key).then(
          () => acknowledged.set(key, (acknowledged.get(key) ?? 0) + 1),
          () => refused.add(taker.name),
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
