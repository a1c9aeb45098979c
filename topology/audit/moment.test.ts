import t from 'tap'
import { JOURNAL } from '../system/counting-run.js'
import { diffStates } from './diff-states.js'
import { explain } from './explain.js'
import { replayJournals } from './replay-journals.js'
import { stateAt } from './state-at.js'
import { auditedDriver } from './test-audit.js'

const question = { kind: 'subject', subject: 'a' } as const

t.test(
  'a position that the journal does not have, or no more, is a gap in every answer that is asked for it',
  async (t) => {
    const { driver, audit, send } = await auditedDriver(t)
    await send('a', 'a')
    const { end } = await driver.log.offsets({ topic: JOURNAL, partition: 0 })
    const positions = [{ topic: JOURNAL, partition: 0, offset: end + 6 }]
    const at = { kind: 'positions', positions } as const
    const gaps = [{ topic: JOURNAL, partition: 0, from: end, to: end + 7 }]
    t.match((await stateAt(audit, { question, at })).weAnswered, [{ offset: end, gaps }])
    t.match(await explain(audit, { subject: 'a', at, limit: 1, every: false }), [{ offset: end, gaps }])
    t.match(await replayJournals(audit, { until: at }), [{ offset: end, gaps }])
    t.match(await diffStates({ a: { audit, until: at }, b: { audit, until: at }, limit: 1 }), [{ gaps }])
    const last = { kind: 'positions', positions: [{ ...positions[0]!, offset: end - 1 }] } as const
    const { weAnswered } = await stateAt(audit, { question, at: last })
    t.same(
      weAnswered.map(({ offset, gaps }) => ({ offset, gaps })),
      [{ offset: end, gaps: [] }],
    )
  },
)

t.test('positions of other journals than those that are asked are refused: they would say nothing', async (t) => {
  const { audit, send } = await auditedDriver(t, { partitions: 2 })
  await send('a')
  const [answer] = (await stateAt(audit, { question, at: { kind: 'end' } })).weAnswered
  const other = { topic: JOURNAL, partition: 1 - answer!.partition, offset: 0 }
  for (const position of [other, { ...other, topic: 'unknown' }]) {
    const at = { kind: 'positions', positions: [position] } as const
    await t.rejects(stateAt(audit, { question, at }), { code: 'AUDIT_MOMENT_INVALID' })
    await t.rejects(explain(audit, { subject: 'a', at, limit: 1, every: false }), { code: 'AUDIT_MOMENT_INVALID' })
  }
  const both = { kind: 'positions', positions: [other, { ...other, partition: answer!.partition }] } as const
  t.match((await stateAt(audit, { question, at: both })).weAnswered, [{ partition: answer!.partition, offset: 1 }])
})

t.test('a domain that is none is refused, also beside one that is', async (t) => {
  const { audit } = await auditedDriver(t)
  const asked = replayJournals(audit, { until: { kind: 'end' }, domains: ['counting', 'typo'] })
  await t.rejects(asked, { code: 'AUDIT_NOTHING_TO_READ', message: /no domain "typo"; there are counting/ })
})
