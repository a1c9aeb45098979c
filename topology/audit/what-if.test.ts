import t from 'tap'
import type { Counted } from '../counting-processor.js'
import { counts, countingProcessor, countOutput } from '../counting-processor.js'
import type { Processor } from '../processor.js'
import { auditedDriver } from './test-audit.js'
import { whatIf } from './what-if.js'
import type { WhatIf } from './what-if.js'

/** An alarm for a key that is not heard of for `silentMs`; hearing of it takes the deadline back. */
const watching: Processor<Counted, { readonly silentMs: number; readonly unused: string }> = {
  ...countingProcessor,
  settings: { silentMs: 1000, unused: '' },
  evolve({ data: { key } }, context) {
    const due = context.get(counts, key)?.due ?? 0
    if (due > 0) context.disarm(due, `wake/${key}`)
    const next = context.time + context.settings.silentMs
    context.arm(next, `wake/${key}`)
    context.put(counts, key, { count: 0, woken: 0, lastOffset: 0, due: next })
  },
  onDeadline: ({ id }, context) => context.emit(countOutput, { key: id.slice(5), value: 'silent', headers: [] }),
}

async function silences(t: Parameters<typeof auditedDriver>[0]) {
  const processors = [watching as Processor]
  const { driver, audit, send } = await auditedDriver(t, { processors })
  // Silent for 0.8 s, then for 1.5 s, then for good; `b` speaks so that time goes on in the journal.
  for (const pauseMs of [800, 1500, 4000]) {
    await send('a')
    for (let passed = 0; passed < pauseMs; passed += 100) {
      await driver.advance(100)
      await send('b')
    }
  }
  const ask = (set: Record<string, unknown>): Promise<WhatIf> => whatIf(audit, { set, until: { kind: 'end' } })
  return { driver, ask }
}

t.test('the settings recorded give what was recorded', async (t) => {
  const { ask } = await silences(t)
  const same = await ask({ silentMs: 1000 })
  t.same(same.differences, [])
  t.match(same.totals, [{ channel: countOutput.topic, value: 'silent', before: 2, after: 2 }])
  t.match(same.limits, { timersAdded: 0 })
})

t.test('a longer silence asked for: fewer alarms, and the others later', async (t) => {
  const { ask } = await silences(t)
  const longer = await ask({ silentMs: 2000 })
  t.match(longer.settings, { silentMs: { before: 1000, after: 2000 } })
  const [total] = longer.totals
  t.match(total, { before: 2, after: 1 })
  t.match(longer.differences, [
    { key: 'a', value: 'silent', after: null },
    { key: 'a', value: 'silent' },
  ])
  const later = longer.differences[1]!
  t.equal(later.after! - later.before!, 1000)
  t.match(total, { later: 1, earlier: 0, meanShiftMs: 1000 })
  t.ok(longer.limits.timersAdded > 0)
})

t.test('a shorter silence: more alarms, and the others earlier', async (t) => {
  const { ask } = await silences(t)
  const { totals, differences } = await ask({ silentMs: 500 })
  t.match(totals, [{ before: 2, after: 3 }])
  t.equal(differences.filter(({ before }) => before === null).length, 1)
})

t.test('a setting that no fold reads is refused', async (t) => {
  const { ask } = await silences(t)
  await t.rejects(ask({ unknown: 1 }), { code: 'AUDIT_SETTING_UNKNOWN', message: /silentMs/ })
  await t.rejects(ask({ silentMs: 'long' }), {
    code: 'AUDIT_SETTING_INVALID',
    message: /silentMs: .long. is no value as 1000/,
  })
})

/** Sends to another key's partition what the settings say; nothing where they say nothing. */
const sending: Processor<Counted, { readonly to: string }> = {
  ...countingProcessor,
  settings: { to: 'x' },
  evolve({ data: { key, mode } }, context) {
    context.put(counts, key, { count: 0, woken: 0, lastOffset: 0, due: 0 })
    const { to } = context.settings
    if (mode !== 'sent' && to !== '') context.send(to, { type: 'Counted', data: { key: to, mode: 'sent' } })
  },
}

t.test(
  'what would be sent to other partitions otherwise is told, one by one, since it is not replayed there',
  async (t) => {
    const { audit, send } = await auditedDriver(t, { processors: [sending], partitions: 3 })
    await send('a', 'b')
    const limits = async (to: string): Promise<WhatIf['limits']> =>
      (await whatIf(audit, { set: { to }, until: { kind: 'end' } })).limits
    const same = await limits('x')
    t.same([same.sendsFoldedThough, same.sendsNotFolded], [[], []])
    const recorded = [
      { domain: 'counting', key: 'x', type: 'Counted' },
      { domain: 'counting', key: 'x', type: 'Counted' },
    ]
    const none = await limits('')
    t.match(none.sendsFoldedThough, recorded)
    t.same(none.sendsNotFolded, [])
    t.equal(none.sendsFoldedThough.length, 2)
    const other = await limits('y')
    t.match(other, { sendsFoldedThough: recorded, sendsNotFolded: [{ key: 'y' }, { key: 'y' }] }, 'as many, but others')
    for (const { time, offset, partition } of other.sendsNotFolded) t.ok(time > 0 && offset > 0 && partition < 3)
  },
)

/** Asks a key every `everyMs`; a request counts once the log has taken it, the third unheard of raises an alarm. */
const asking: Processor<Counted, { readonly everyMs: number }> = {
  ...countingProcessor,
  settings: { everyMs: 1000 },
  evolve({ data: { key, mode } }, context) {
    const row = context.get(counts, key)
    const count = mode.startsWith('taken') ? (row?.count ?? 0) + 1 : 0
    context.put(counts, key, { count, woken: 0, lastOffset: 0, due: 0 })
    if (count === 3) context.emit(countOutput, { key, value: 'silent', headers: [] })
    if (row === undefined) context.arm(context.time + context.settings.everyMs, `wake/${key}`)
  },
  onDeadline({ id, due }, context) {
    const key = id.slice(5)
    const taken: Counted = { type: 'Counted', data: { key, mode: `taken${context.time}` } }
    context.emit(countOutput, { key, value: 'are you there', headers: [] }, taken)
    context.arm(due + context.settings.everyMs, id)
  },
}

t.test(
  'outputs that only the other settings make are taken by the log, those that they do not make are not',
  async (t) => {
    const { driver, audit, send } = await auditedDriver(t, { processors: [asking] })
    await send('a')
    await driver.advance(10_000, 100)
    const ask = (everyMs: number): Promise<WhatIf> => whatIf(audit, { set: { everyMs }, until: { kind: 'end' } })
    const silentAt = ({ differences }: WhatIf): number | null | undefined =>
      differences.find(({ value }) => value === 'silent')?.after
    const same = await ask(1000)
    t.same(same.differences, [])
    t.match(same.limits, { acknowledgementsAdded: 0, acknowledgementsDropped: 0 })
    const slower = await ask(2500)
    const recordedAt = slower.differences.find(({ value }) => value === 'silent')?.before ?? 0
    t.ok((silentAt(slower) ?? 0) - recordedAt >= 3 * 1500, 'three requests take longer')
    t.ok(slower.limits.acknowledgementsDropped > 0)
    const faster = await ask(500)
    t.ok(recordedAt - (silentAt(faster) ?? 0) >= 3 * 400)
    t.ok(faster.limits.acknowledgementsAdded > 0)
  },
)
