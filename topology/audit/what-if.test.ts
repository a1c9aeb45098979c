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
})
