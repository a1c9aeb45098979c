import t from 'tap'
import type { SiteName } from '../../processors/site/index.js'
import { TestSites } from './test-sites.js'

/** Runs of one seed each: events all the time, and every few seconds something that an operator, a network or a machine does. */
const SEEDS = Array.from({ length: 8 }, (_, seed) => seed + 1)
const STEPS = 10
const KEYS = 15

/** A small generator: the same seed gives the same run. (Park and Miller) */
function generator(seed: number): () => number {
  let state = (seed * 7_919) % 2_147_483_647
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
}

const by = { actor: 'simulation', reason: '', forwarded: false }
const names: readonly SiteName[] = ['primary', 'secondary']

for (const seed of SEEDS) {
  t.test(
    `seed ${seed}: acts, broken links, skewed clocks and crashes end with one active site that has all`,
    async (t) => {
      const random = generator(seed)
      const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item
      const skewMs = Math.round((random() - 0.5) * 120_000)
      const sites = new TestSites({ random, skewMs, settings: { failbackHoldOffMs: 20_000 } })
      t.teardown(() => sites.stop())
      await sites.start()
      const acknowledged = new Map<string, number>()
      const sent = new Map<string, number>()
      /** Events may be lost only where a site was cut off or died before its journal was copied. */
      let mayLose = false
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
      const story: string[] = [`skew ${skewMs} ms`]
      for (let step = 0; step < STEPS; step++) {
        sites.onStep = send
        await sites.advance(500 + Math.floor(random() * 4) * 1000)
        sites.onStep = () => undefined
        const site = sites.of(pick(names))
        const what = pick(['failover', 'failback', 'abort', 'cut', 'crash waiting', 'crash active', 'nothing'] as const)
        story.push(what === 'cut' || what === 'nothing' ? what : `${what} at the ${site.name}`)
        if (what === 'cut') {
          sites.link.isUp = false
          const cutMs = pick([500, 5000, 45_000])
          mayLose ||= cutMs > 20_000
          await sites.advance(cutMs)
          sites.link.isUp = true
          await sites.advance(2000)
        } else if (what === 'crash waiting' || what === 'crash active') {
          const victim = sites.both.find((candidate) => candidate.consumes === (what === 'crash active')) ?? site
          const downMs = pick([1000, 50_000])
          mayLose ||= downMs > 20_000
          victim.crash()
          await sites.advance(downMs)
          await sites.while(victim.start())
        } else if (what !== 'nothing' && site.running !== undefined) {
          await sites.while(site.site.act(what, by).catch(() => undefined))
        }
      }
      await sites.until(`one active site (${story.join(', ')})`, () => sites.isSteady(), 300_000)
      await sites.advance(3000)
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
