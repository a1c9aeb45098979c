import t from 'tap'
import { memoryProvider } from '../../state-stores/memory/provider.js'
import { counts, countingProcessor } from '../counting-processor.js'
import { blockCodec } from '../journal/block-codec.js'
import type { LogRecord } from '../log/log.js'
import { JournalFold } from './journal-fold.js'
import { JOURNAL } from '../system/counting-run.js'
import { names } from '../names.js'
import { commitOperations } from '../task/commit-record.js'
import { parseSeal } from '../task/seal.js'
import { tableRuntimes } from '../task/table-runtime.js'
import { auditedDriver, auditOf, forgedReader } from './test-audit.js'
import type { AuditedDriver } from './test-audit.js'
import { verify } from './verify.js'

const countKey = (key: string): Buffer => {
  const runtime = tableRuntimes(countingProcessor.tables).find(({ table }) => table === counts)
  return Buffer.from(`${runtime!.prefix}${key}`)
}

async function history(t: Parameters<typeof auditedDriver>[0], partitions = 1): Promise<AuditedDriver> {
  const audited = await auditedDriver(t, { partitions })
  for (const values of [['a', 'b:send'], ['a', 'c:timer'], ['d:fail'], ['a']]) {
    await audited.send(...values)
    await audited.driver.advance(1500)
  }
  await audited.driver.advance(2000)
  return audited
}

t.test('seals and changelog are what the journal gives', async (t) => {
  const { audit } = await history(t, 2)
  const verified = await verify(audit, {})
  t.equal(verified.length, 2)
  for (const one of verified) {
    t.match(one, { verdict: 'equal', seals: { firstDifference: null }, kept: [{ name: 'changelog', isEqual: true }] })
    t.ok(one.seals.compared > 0)
  }
})

t.test('a row changed behind the back of the engine is found, with both sides and its last change', async (t) => {
  const { driver, audit } = await history(t)
  const store = await memoryProvider().open('kept')
  const journal = { topic: JOURNAL, partition: 0 }
  const { end } = await driver.log.offsets(journal)
  const fold = await JournalFold.open({ reader: driver.log, processor: countingProcessor, journal, store })
  await fold.foldTo(end)
  await fold.store()
  const changelog = { incarnation: '', end: 0, offset: 0 }
  const commit = {
    offset: end,
    incarnation: '',
    changelog,
    time: 0,
    epoch: 1,
    foldVersion: 1,
    foldedBy: 1,
    outputs: 0,
    settings: null,
  }
  const row = { count: 7, woken: 0, lastOffset: 1, due: 0 }
  await store.write([
    ...commitOperations(commit, fold.digest.serialize()),
    { key: countKey('a'), value: counts.codec.encode(row) },
  ])
  const [one] = await verify(audit, { openTaskStore: () => Promise.resolve(store) })
  const kept = one?.kept.find(({ name }) => name === 'store')
  t.match(one, { verdict: 'different', seals: { firstDifference: null } })
  t.match(kept, { isEqual: false, sealed: kept?.ofJournal })
  t.not(kept?.ofRows, kept?.sealed)
  const lastOffset = (await driver.read(JOURNAL)).at(-1)!.offset
  const b = { count: 3, lastOffset }
  t.match(kept?.differences, [{ table: 'counts', key: 'a', a: row, b, lastChange: { offset: lastOffset, index: 0 } }])
  t.equal(kept?.differences.length, 1)
})

t.test('a journal that is not the one folded is narrowed down to the records between two seals', async (t) => {
  const { driver } = await history(t)
  const codec = blockCodec(countingProcessor.events)
  const records = await driver.read(JOURNAL)
  const forgedAt = records.filter(({ value }) => codec.decode(value!)[0]?.kind === 'event')[2]!.offset
  const forged = (record: LogRecord): LogRecord => {
    if (record.offset !== forgedAt) return record
    const entries = codec.decode(record.value!)
    const data = { key: 'forged', mode: '' }
    const value = codec.encode(entries.map((entry) => ({ ...entry, event: { type: 'Counted', data } }) as typeof entry))
    return { ...record, value }
  }
  const reader = forgedReader(driver, JOURNAL, (records) => records.map(forged))
  const [one] = await verify(auditOf(driver, { reader }), {})
  t.equal(one?.verdict, 'different')
  const first = one?.seals.firstDifference
  t.ok(first && first.from <= forgedAt && forgedAt < first.to, `${forgedAt} is in ${first?.from} to ${first?.to}`)
  t.ok(first && first.to - first.from < records.length)
  t.match(
    first?.changes.find(({ offset }) => offset === forgedAt),
    { row: 'counts/forged' },
  )
  t.match(
    one?.kept[0]?.differences.find(({ key }) => key === 'forged'),
    { b: { count: 2 } },
  )
})

t.test(
  'a seal of a moment that was other than the journal gives is found, though all later ones are as it gives',
  async (t) => {
    const { driver } = await history(t)
    const digests = names.digests('test', countingProcessor.store)
    const at = (await driver.read(digests))[1]!.offset
    const forged = (record: LogRecord): LogRecord => {
      if (record.offset !== at) return record
      const seal = { ...parseSeal(record)!, rows: 'f'.repeat(64) }
      return { ...record, value: Buffer.from(JSON.stringify(seal)) }
    }
    const reader = forgedReader(driver, digests, (records) => records.map(forged))
    const [one] = await verify(auditOf(driver, { reader }), {})
    t.match(one, { verdict: 'different', seals: { firstDifference: { seal: { rows: 'f'.repeat(64) } } } })
    const { compared } = (await verify(auditOf(driver), {}))[0]!.seals
    t.equal(
      compared,
      new Set((await driver.read(digests)).map((record) => parseSeal(record)?.offset)).size,
      'every seal',
    )
  },
)

t.test('where records are missing there is no verdict', async (t) => {
  const { driver, audit } = await history(t)
  await driver.log.deleteBefore({ topic: JOURNAL, partition: 0 }, 2)
  t.match(await verify(audit, {}), [{ verdict: 'unknown', gaps: [{ from: 0, to: 2 }] }])
})
