import t from 'tap'
import type { Test } from 'tap'
import { explain } from '../audit/explain.js'
import { replayJournals } from '../audit/replay-journals.js'
import { stateAt } from '../audit/state-at.js'
import { auditedDriver, auditOf, forgedReader, withoutWork } from '../audit/test-audit.js'
import type { AuditedDriver } from '../audit/test-audit.js'
import { verify } from '../audit/verify.js'
import { whatIf } from '../audit/what-if.js'
import { JOURNAL } from '../system/counting-run.js'
import { openArchive } from './archive-source.js'
import { withHistory } from './history.js'
import { writeArchive } from './write-archive.js'

const end = { kind: 'end' } as const
const journal = { topic: JOURNAL, partition: 0 }

/** A journal that was archived, has gone on since, and then lost all before `logStart`. */
async function shortened(t: Test, logStart: (archivedTo: number) => number) {
  const audited = await auditedDriver(t)
  const { audit, driver, send } = audited
  const directory = t.testdir()
  const work = async (rounds: number): Promise<void> => {
    for (let i = 0; i < rounds; i++) {
      await send(`k${i % 5}`, 'a:timer', `b${i}:send`)
      await driver.advance(1200)
    }
  }
  await work(12)
  await writeArchive(audit, { directory, segmentBytes: 200 })
  const archivedTo = (await driver.log.offsets(journal)).end
  await work(6)
  await driver.advance(5000)
  const whole = await answers(audited, audit)
  const start = logStart(archivedTo)
  await driver.log.deleteBefore(journal, start)
  const history = auditOf(driver, withHistory(await openArchive(directory), driver.log))
  return { ...audited, directory, archivedTo, start, whole, history }
}

async function answers({ driver }: AuditedDriver, audit: AuditedDriver['audit']): Promise<unknown> {
  const time = driver.clock.now() - 20_000
  const question = { kind: 'subject', subject: 'a' } as const
  const [replayed] = await replayJournals(audit, { until: end })
  const explained = await explain(audit, { subject: 'a', at: end, limit: 100, every: false })
  return withoutWork({
    digest: replayed?.digest,
    gaps: replayed?.gaps,
    was: await stateAt(audit, { question, at: { kind: 'time', time } }),
    is: await stateAt(audit, { question, at: end }),
    steps: explained[0]?.steps.map(({ offset, index, after }) => ({ offset, index, after })),
    same: (await whatIf(audit, { set: {}, until: end })).differences,
  })
}

t.test('what the log no longer has is read from an archive, and every answer is as before', async (t) => {
  for (const before of [3, 0]) {
    const { history, whole, ...audited } = await shortened(t, (archivedTo) => archivedTo - before)
    t.same(await answers(audited, history), whole)
  }
})

t.test('verify begins at the snapshot before what the log has, and says what it could not verify', async (t) => {
  const { audit, driver, history, start } = await shortened(t, (archivedTo) => archivedTo - 3)
  const { end: to } = await driver.log.offsets(journal)
  const missing = { from: 1, to, why: `records 0 to ${start - 1} are missing` }
  t.match(await verify(audit, {}), [{ verdict: 'unknown', upTo: null, notVerified: [missing] }], 'without the archive')
  t.match((await verify(audit, {}))[0]?.kept, [{ name: 'changelog', ofJournal: null, isEqual: null }])
  const [verified] = await verify(history, {})
  const from = verified?.from ?? 0
  t.ok(from > 0 && from <= start, `${from} is at or before ${start}`)
  t.match(verified, { verdict: 'equal', kept: [{ name: 'changelog', isEqual: true }] })
  t.same(verified?.gaps, [])
  t.match(verified?.notVerified[0], { from: 0, to: from - 1, why: /before the snapshot/ })
  t.ok(verified && verified.seals.compared > 0)
  const replayed = await replayJournals(history, { until: end })
  t.same(
    replayed.map((one) => [one.from, one.gaps]),
    [[from, []]],
  )
})

t.test('what neither archive nor log has is a gap', async (t) => {
  const { history, archivedTo, start, driver } = await shortened(t, (archivedTo) => archivedTo + 2)
  const gap = { ...journal, from: archivedTo, to: start }
  const { end: to } = await driver.log.offsets(journal)
  t.match(await replayJournals(history, { until: end }), [{ gaps: [gap] }])
  const [verified] = await verify(history, {})
  t.match(verified, { verdict: 'unknown', gaps: [gap] })
  const why = `records ${archivedTo} to ${start - 1} are missing`
  t.same(verified?.notVerified.at(-1), { from: archivedTo + 1, to, why })
  const [told] = await explain(history, { subject: 'a', at: end, limit: 3, every: true })
  t.same(told?.gaps, [gap])
})

t.test('what the log has is read from it and not from the archive: a record forged there is found', async (t) => {
  const { driver, directory, start } = await shortened(t, (archivedTo) => archivedTo - 3)
  const reader = forgedReader(driver, JOURNAL, (records) => records.filter(({ offset }) => offset !== start))
  const forged = auditOf(driver, withHistory(await openArchive(directory), reader))
  t.same((await replayJournals(forged, { until: end }))[0]?.gaps, [{ ...journal, from: start, to: start + 1 }])
})

t.test('an archive of a topic that was made anew since is refused', async (t) => {
  const { directory } = await shortened(t, (archivedTo) => archivedTo)
  const other = await auditedDriver(t)
  const source = withHistory(await openArchive(directory), {
    ...(await openArchive(directory)).reader,
    topic: (name) => Promise.resolve({ name, partitions: 1, incarnation: 'another' }),
  })
  await t.rejects(replayJournals(auditOf(other.driver, source), { until: end }), { code: 'ARCHIVE_OTHER' })
})
