import t from 'tap'
import { openArchive } from '../archive/archive-source.js'
import { writeArchive } from '../archive/write-archive.js'
import { countingProcessor } from '../counting-processor.js'
import type { Processor } from '../processor.js'
import type { TopologyTestDriver } from '../test-driver.js'
import { explain } from './explain.js'
import { auditedDriver } from './test-audit.js'

const end = { kind: 'end' } as const

t.test('the steps of a key: where they came from, why, what they changed, under which settings', async (t) => {
  const { driver, audit, send } = await auditedDriver(t)
  await send('a', 'b', 'a:timer')
  await driver.advance(2000)
  await send('a:fail')
  const command = { type: 'Counted', data: { key: 'a', mode: '' } }
  const options = { commandId: 'command-1', actor: 'alice', reason: 'a test', timeoutMs: 5000 }
  await driver.application.command('counting', { key: 'a' }, command, options)
  const [told] = await explain(audit, { subject: 'a', at: end, limit: 10, every: true })
  t.match(told, { domain: 'counting', partition: 0, state: { count: 3, woken: 1 }, hasEarlier: false })
  t.same(told?.gaps, [])
  t.match(told?.terms, [{ epoch: 1, foldVersion: 1, settings: { greeting: 'hello' } }])
  // The related row `totals/all` changes with every event, so b's is a step too.
  t.match(
    told?.steps.map(({ what, outcome }) => `${what} ${outcome}`),
    ['Counted folded', 'Counted folded', 'Counted folded', 'timer folded', 'Counted failed', 'Counted folded'],
  )
  t.match(told?.steps[0], {
    topic: 'test-counting-journal',
    source: { source: /^count-me\/0@/, offset: 0 },
    rules: [{ rule: 'counted', compared: { before: 0 } }],
    before: null,
    after: { count: 1 },
    epoch: 1,
  })
  t.same(
    told?.steps[1]?.changes.map(({ row }) => row),
    ['totals/all'],
    'only what has to do with the key',
  )
  t.match(told?.steps[3], { data: { id: 'wake/a' }, before: { woken: 0 }, after: { woken: 1 } })
  t.match(told?.steps[5], { actor: 'alice', reason: 'a test', commandId: 'command-1' })
})

t.test(
  'who set the settings in force, why, and what they were before, also in terms that changed nothing',
  async (t) => {
    const run = async (greeting: string, settingsBy: Processor['settingsBy'], before?: TopologyTestDriver) => {
      const processor = { ...countingProcessor, settings: { greeting }, ...(settingsBy && { settingsBy }) } as Processor
      const on = before && { stores: before.stores, clock: before.clock }
      const audited = await auditedDriver(t, { processors: [processor], ...on })
      await audited.send('a')
      return audited
    }
    const first = await run('hello', { actor: 'alice' })
    await first.driver.stop()
    const second = await run('hi', { actor: 'bob', reason: 'a test' }, first.driver)
    await second.driver.stop()
    const { audit } = await run('hi', undefined, second.driver)
    const request = { subject: 'a', at: end, every: true }
    const [told] = await explain(audit, { ...request, limit: 10 })
    const set = { actor: 'bob', reason: 'a test', epoch: 2, changed: { greeting: { before: 'hello', after: 'hi' } } }
    t.match(told?.terms, [
      { epoch: 1, settings: { greeting: 'hello' }, settingsChange: { epoch: 1, actor: 'alice' } },
      { epoch: 2, settings: { greeting: 'hi' }, settingsChange: set },
      { epoch: 3, settings: { greeting: 'hi' }, settingsChange: set },
    ])
    t.same(told?.terms[0]?.settingsChange?.changed, {})
    const directory = t.testdir()
    await writeArchive(audit, { directory, segmentBytes: 1 })
    const archived = { ...audit, source: await openArchive(directory) }
    const [newest] = await explain(archived, { ...request, limit: 1 })
    t.match(newest?.terms, [{ epoch: 3, settingsChange: set }], 'though it is not folded anew')
  },
)

t.test('only the newest steps are told, up to the moment asked for', async (t) => {
  const { driver, audit, send } = await auditedDriver(t)
  for (let i = 0; i < 30; i++) await send('a')
  const time = driver.clock.now()
  await driver.advance(1000)
  await send('a')
  const [told] = await explain(audit, { subject: 'a', at: { kind: 'time', time }, limit: 4, every: true })
  t.match(told, { state: { count: 30 }, hasEarlier: true })
  t.same(
    told?.steps.map(({ after }) => after?.count),
    [27, 28, 29, 30],
  )
})

t.test('who sent a record of an input topic is looked up there', async (t) => {
  const { driver, audit } = await auditedDriver(t)
  const headers = [['ce_source', Buffer.from('a producer')]] as const
  await driver.pipe('count-me', [{ key: null, value: Buffer.from('a'), headers }])
  const [told] = await explain(audit, { subject: 'a', at: end, limit: 1, every: true })
  t.match(told?.steps, [{ producer: 'a producer' }])
})

t.test('a key that nobody knows has no steps', async (t) => {
  const { audit, send } = await auditedDriver(t)
  await send('b')
  t.match(await explain(audit, { subject: 'a', at: end, limit: 10, every: true }), [{ state: null }])
})

t.test('steps that change nothing of the state in short are left out, but for the newest', async (t) => {
  const { audit, send } = await auditedDriver(t)
  await send('a', 'b', 'c', 'b', 'a', 'b', 'c')
  const [told] = await explain(audit, { subject: 'a', at: end, limit: 10, every: false })
  t.same(
    told?.steps.map(({ before, after }) => [before?.count, after?.count]),
    [
      [undefined, 1],
      [1, 2],
      [2, 2],
    ],
    'the last is of a row that the state could follow from',
  )
  t.equal(told?.leftOut, 4)
})
