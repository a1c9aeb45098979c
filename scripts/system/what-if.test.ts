import t from 'tap'
import type { TransitionTotals } from '../../topology/audit/transitions.js'
import { whatIf } from '../../topology/audit/what-if.js'
import type { WhatIf } from '../../topology/audit/what-if.js'
import { goldenAudit, scenarios } from '../golden/golden-journals.js'

const end = { kind: 'end' } as const

async function ask(domain: string, set: Readonly<Record<string, unknown>>): Promise<WhatIf> {
  const scenario = scenarios.find((one) => one.domain === domain)
  if (scenario === undefined) throw new Error(domain)
  return whatIf(await goldenAudit(scenario), { set, until: end })
}

/** Before and after, and by how much those moved, of all transitions that match. */
const sum = (totals: readonly TransitionTotals[], of: RegExp): readonly number[] => {
  const those = totals.filter(({ channel, value }) => of.test(`${channel} ${value}`))
  const added = (what: 'before' | 'after' | 'meanShiftMs'): number => those.reduce((all, one) => all + one[what], 0)
  return [added('before'), added('after'), added('meanShiftMs')]
}

t.test('another threshold of a platform: an alarm less, or one that comes later', async (t) => {
  const alarms = /^alarms .*"state":"raised"/
  const recorded = await ask('address-health', { detectThreshold: 0.5 })
  t.same(recorded.settings, { detectThreshold: { before: [0.5], after: 0.5 } })
  t.same(recorded.differences, [])
  t.same(sum(recorded.totals, alarms), [1, 1, 0])
  t.same(sum((await ask('address-health', { detectThreshold: 0.9 })).totals, alarms), [1, 0, 0])
  const later = await ask('address-health', { detectThreshold: 0.75 })
  const times = later.differences.filter(({ value }) => value.includes('"raised"'))
  t.equal(times.length, 2, 'its numbers are others, so it is another alarm')
  t.ok(times[1]!.after! > times[0]!.before!)
  await t.rejects(ask('address-health', { detectThreshold: 'high' }), { code: 'AUDIT_SETTING_INVALID' })
})

t.test('other times of keep-alive: no kill, a later one, an earlier one', async (t) => {
  const kills = /^effect\/routing-manager-call .*"method":"DELETE","path":"e2t"/
  const recorded = await ask('keep-alive', { keepAliveResponseTimeoutMs: 1500 })
  t.same(recorded.differences, [])
  t.match(recorded.limits, { timersAdded: 0, acknowledgementsAdded: 0, acknowledgementsDropped: 0, intakesAdded: 0 })
  t.same(sum(recorded.totals, kills), [2, 2, 0])
  t.same(sum((await ask('keep-alive', { keepAliveResponseTimeoutMs: 3_600_000 })).totals, kills), [2, 0, 0])
  t.same(sum((await ask('keep-alive', { keepAliveResponseTimeoutMs: 3000 })).totals, kills), [2, 2, 3000])
  const quick = await ask('keep-alive', { keepAliveDelayMs: 250, keepAliveResponseTimeoutMs: 750 })
  const [before, after, shiftMs] = sum(quick.totals, kills)
  t.same([before, after], [2, 2])
  t.ok(shiftMs! <= -1500, 'each about as much earlier as the time-out is shorter')
  for (const added of ['timersAdded', 'acknowledgementsAdded', 'intakesAdded'] as const) t.ok(quick.limits[added] > 0)
})

t.test(
  'another rule for plugins that return, and checks at other times, of which it is told what could not be replayed',
  async (t) => {
    const kept = await ask('trust-level', { onDmiRestart: 'keep' })
    t.ok(kept.differences.length > 0)
    t.match(kept.limits, { sendsFoldedThough: [], sendsNotFolded: [], requestsUnanswered: 0 })
    const oftener = await ask('trust-level', { dmiHealthIntervalMs: 5000 })
    t.ok(oftener.limits.requestsUnanswered > 0, 'nobody knows what a check at another time would have found')
    t.match(oftener.limits.sendsFoldedThough, [{ key: null, type: 'DmiPluginLevelBroadcast' }, {}])
  },
)
