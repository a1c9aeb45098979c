import t from 'tap'
import type { TransitionTotals } from '../../topology/audit/transitions.js'
import { whatIf } from '../../topology/audit/what-if.js'
import type { WhatIf } from '../../topology/audit/what-if.js'
import { settingsWith } from '../../common/settings.js'
import { parameterValues, settingValues } from '../audit/set-values.js'
import { goldenAudit, scenarios } from '../golden/golden-journals.js'

const end = { kind: 'end' } as const

async function ask(domain: string, set: Readonly<Record<string, unknown>>): Promise<WhatIf> {
  const scenario = scenarios.find((one) => one.domain === domain)
  if (scenario === undefined) throw new Error(domain)
  const values = { ...set, ...parameterValues(set) }
  return whatIf(await goldenAudit(scenario), { set: values, valuesOf: settingValues(settingsWith({})), until: end })
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
})

const refused: Readonly<
  Record<string, readonly (readonly [name: string, value: unknown, code: string, says: string])[]>
> = {
  'trust-level': [
    ['pendingLevelMs', -1, 'SETTINGS_INVALID', 'pendingLevelMs is -1, expected: a whole number from 0'],
    ['pendingLevelMs', 'long', 'SETTINGS_INVALID', 'expected: a whole number from 0'],
    ['onDmiRestart', 'forget', 'SETTINGS_INVALID', 'expected: one of complete, keep'],
    ['dmiHealthIntervalMs', 1000, 'SETTINGS_INVALID', 'dmiHealthDeadlineMs is 2000, expected: less than'],
  ],
  'keep-alive': [
    ['keepAliveDelayMs', 10, 'SETTINGS_INVALID', 'keepAliveDelayMs is 10, expected: 0, or at least 50'],
    ['globalRicMcc', '31', 'SETTINGS_INVALID', 'ricMcc is "31", expected: three digits'],
  ],
  'address-health': [
    ['alertmanager', 'yes', 'AUDIT_SETTING_INVALID', 'alertmanager: "yes" is no value as'],
    ['detectThreshold', 1.5, 'BODY_INVALID', 'detectThreshold is 1.5, not a number from 0 to 1'],
    ['detectThreshold', 'high', 'BODY_INVALID', 'not a number from 0 to 1'],
  ],
}

t.test(
  'what a start of the service, or an update of a platform, would refuse is refused in the same words',
  async (t) => {
    for (const [domain, values] of Object.entries(refused)) {
      for (const [name, value, code, says] of values) {
        await t.rejects(ask(domain, { [name]: value }), { code, message: says })
      }
    }
  },
)

t.test('a value that a start of the service takes as another one stands for that', async (t) => {
  const { differences } = await ask('keep-alive', { keepAliveDelayMs: 0, keepAliveResponseTimeoutMs: 0 })
  t.same(differences, [], '0 is that of the profile, which is what was recorded')
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
