import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import type { Test } from 'tap'
import type { Audit } from '../audit/audit.js'
import { explain } from '../audit/explain.js'
import type { JournalReader } from '../audit/journal-source.js'
import type { Moment } from '../audit/moment.js'
import { replayJournals } from '../audit/replay-journals.js'
import { stateAt } from '../audit/state-at.js'
import { auditedDriver, auditOf, withoutWork } from '../audit/test-audit.js'
import type { AuditedDriver } from '../audit/test-audit.js'
import { verify } from '../audit/verify.js'
import { countingProcessor, counts, totals } from '../counting-processor.js'
import type { Processor } from '../processor.js'
import { partitionOf } from '../partitioner.js'
import { JOURNAL } from '../system/counting-run.js'
import { openArchive } from './archive-source.js'
import { appendLine, CHAIN_FILE, parseChain, readChain } from './chain.js'
import { checkArchive } from './check-archive.js'
import type { ArchiveError } from './errors.js'
import { MERGED_SEGMENTS } from './keys.js'
import { maskingOf } from './mask.js'
import { writeArchive } from './write-archive.js'

const end = { kind: 'end' } as const

async function history(t: Test): Promise<AuditedDriver & { readonly directory: string }> {
  const audited = await auditedDriver(t)
  for (let i = 0; i < 12; i++) {
    await audited.send(`k${i % 5}`, 'a:timer', `b${i}:send`)
    await audited.driver.advance(1200)
  }
  return { ...audited, directory: t.testdir() }
}

const archived = async ({ driver }: AuditedDriver, directory: string): Promise<Audit> =>
  auditOf(driver, await openArchive(directory))

/** Everything that two audits can be asked, as JSON. */
async function answers(audit: Audit, time: number): Promise<unknown> {
  const subject = { kind: 'subject', subject: 'a' } as const
  const [replayed] = await replayJournals(audit, { until: end })
  const [told] = await explain(audit, { subject: 'a', at: { kind: 'time', time }, limit: 5, every: true })
  // The producer is looked up in the input topic, which an archive does not have.
  const steps = told?.steps.map(({ producer: _producer, ...step }) => step)
  const [chain] = await explain(audit, { subject: 'k1', at: end, limit: 50, every: false })
  const [verified] = await verify(audit, {})
  return withoutWork({
    chain: chain?.steps.map(({ offset, index, before, after }) => ({ offset, index, before, after })),
    digest: replayed?.digest,
    offset: replayed?.offset,
    at: await stateAt(audit, { question: subject, at: { kind: 'time', time } }),
    all: await stateAt(audit, { question: { kind: 'all' }, at: end }),
    told: { ...told, steps, terms: told?.terms.map(({ epoch, settings }) => ({ epoch, settings })) },
    seals: [verified?.verdict, verified?.seals.firstDifference],
  })
}

t.test('every audit says the same of an archive as of the journals, wherever it begins to fold', async (t) => {
  const audited = await history(t)
  const { audit, directory, driver } = audited
  const time = driver.clock.now() - 5000
  const written = await writeArchive(audit, { directory, segmentBytes: 200 })
  t.ok(written.segments > 8)
  const { isSound, faults, masked } = await checkArchive(directory, { head: written.head })
  t.same({ isSound, faults, masked }, { isSound: true, faults: [], masked: [] })
  t.same(await answers(await archived(audited, directory), time), await answers(audit, time))
})

t.test('an archive goes on where it ends, in runs that may be cut short', async (t) => {
  const audited = await history(t)
  const { audit, directory, driver, send } = audited
  await writeArchive(audit, { directory, segmentBytes: 200 })
  await send('later', 'a')
  await driver.advance(3000)
  // A line that a writer has begun: it is written anew.
  appendFileSync(join(directory, CHAIN_FILE), '{"previous":"')
  const { segments } = await writeArchive(audit, { directory, segmentBytes: 200 })
  t.ok(segments > 0)
  t.match(await writeArchive(audit, { directory, segmentBytes: 200 }), { segments: 0, records: 0 }, 'nothing is new')
  t.match(await checkArchive(directory), { isSound: true })
  const time = driver.clock.now()
  t.same(await answers(await archived(audited, directory), time), await answers(audit, time))
})

t.test('one run at a time writes an archive; the lock of one that was killed is taken over', async (t) => {
  const { audit, directory } = await history(t)
  const writing = writeArchive(audit, { directory, segmentBytes: 200 })
  await t.rejects(writeArchive(audit, { directory, segmentBytes: 200 }), { code: 'ARCHIVE_IN_USE' })
  await writing
  t.match(await checkArchive(directory), { isSound: true })
  const [lock, ended] = [`${directory}.lock`, spawnSync(process.execPath, ['--version']).pid]
  t.notOk(existsSync(lock))
  writeFileSync(lock, String(process.ppid))
  await t.rejects(writeArchive(audit, { directory }), { code: 'ARCHIVE_IN_USE' })
  for (const text of [String(ended), '']) {
    writeFileSync(lock, text)
    t.match(await writeArchive(audit, { directory }), { segments: 0 })
    t.notOk(existsSync(lock))
  }
})

t.test('history that the journal no longer has stays in the archive; what neither has is a gap', async (t) => {
  const audited = await history(t)
  const { audit, directory, driver, send } = audited
  const { digest } = (await replayJournals(audit, { until: end }))[0]!
  const { end: archivedTo } = await driver.log.offsets({ topic: JOURNAL, partition: 0 })
  await writeArchive(audit, { directory })
  await driver.log.deleteBefore({ topic: JOURNAL, partition: 0 }, archivedTo)
  t.equal((await replayJournals(await archived(audited, directory), { until: end }))[0]?.digest, digest)
  await send('lost')
  await send('kept')
  await driver.advance(3000)
  await driver.log.deleteBefore({ topic: JOURNAL, partition: 0 }, archivedTo + 1)
  const { gaps } = await writeArchive(audit, { directory })
  const gap = { topic: JOURNAL, partition: 0, from: archivedTo, to: archivedTo + 1 }
  t.same(gaps, [gap])
  t.same((await replayJournals(await archived(audited, directory), { until: end }))[0]?.gaps, [gap])
  t.match(await verify(await archived(audited, directory), {}), [{ verdict: 'unknown', gaps: [gap] }])
})

t.test('a pack of some time is an archive whose digests are those that were sealed', async (t) => {
  const audited = await history(t)
  const { audit, directory, driver } = audited
  const [fromTime, toTime] = [driver.clock.now() - 9000, driver.clock.now() - 4000]
  await writeArchive(audit, { directory, fromTime, toTime, keys: ['a'] })
  const pack = await archived(audited, directory)
  const [verified] = await verify(pack, {})
  t.same([verified?.verdict, verified?.gaps], ['equal', []])
  t.ok(verified && verified.seals.compared > 1)
  const { start } = await pack.source.reader.offsets({ topic: JOURNAL, partition: 0 })
  t.ok(start > 0)
  const subject = { kind: 'subject', subject: 'a' } as const
  const at = { kind: 'time', time: driver.clock.now() - 6000 } as const
  const weAnswered = async (of: Audit) => withoutWork((await stateAt(of, { question: subject, at })).weAnswered)
  t.same(await weAnswered(pack), await weAnswered(audit))
})

t.test('a moment before the begin of a pack is answered with what is missing', async (t) => {
  const audited = await history(t)
  const { audit, directory, driver } = audited
  const now = driver.clock.now()
  await writeArchive(audit, { directory, fromTime: now - 5000 })
  const pack = await archived(audited, directory)
  const { start: to } = await pack.source.reader.offsets({ topic: JOURNAL, partition: 0 })
  const missing = [{ topic: JOURNAL, partition: 0, from: 0, to }]
  const time = (ms: number): Moment => ({ kind: 'time', time: ms })
  const before = (offset: number): Moment => ({ kind: 'offset', offset })
  const position = (offset: number): Moment => ({
    kind: 'positions',
    positions: [{ topic: JOURNAL, partition: 0, offset }],
  })
  const moments: readonly (readonly [Moment, readonly unknown[]])[] = [
    [time(now - 9000), missing],
    [before(to - 1), missing],
    [position(to - 2), missing],
    [before(to), []],
    [position(to - 1), []],
    [time(now - 2000), []],
    [end, []],
  ]
  for (const [at, gaps] of moments) {
    const { wasTrue, weAnswered } = await stateAt(pack, { question: { kind: 'subject', subject: 'a' }, at })
    const told = [
      ...(wasTrue ?? []),
      ...weAnswered,
      ...(await explain(pack, { subject: 'a', at, limit: 5, every: true })),
      ...(await replayJournals(pack, { until: at })),
    ]
    t.ok(told.length >= 3)
    for (const one of told) t.same(one.gaps, gaps, JSON.stringify(at))
  }
})

t.test('a partition that a pack has nothing of is a gap in every answer', async (t) => {
  const audited = await auditedDriver(t, { partitions: 4 })
  const { audit, driver, send } = audited
  await send('k0', 'k1', 'k2', 'k3', 'k4')
  await driver.advance(3000)
  const directory = t.testdir()
  await writeArchive(audit, { directory, keys: ['k0'] })
  const pack = await archived(audited, directory)
  const held = partitionOf('k0', 4)
  const other = ['k1', 'k2', 'k3', 'k4'].find((key) => partitionOf(key, 4) !== held) ?? ''
  const gap = { topic: JOURNAL, partition: partitionOf(other, 4), from: 0, to: 0 }
  const subject = { kind: 'subject', subject: other } as const
  t.match(await stateAt(pack, { question: subject, at: end }), { weAnswered: [{ gaps: [gap] }] })
  t.match(await explain(pack, { subject: other, at: end, limit: 5, every: true }), [{ gaps: [gap] }])
  for (const { partition, verdict, notVerified, gaps } of await verify(pack, {})) {
    if (partition === held) t.same({ verdict, gaps }, { verdict: 'equal', gaps: [] })
    else
      t.match(
        { verdict, notVerified, gaps },
        { verdict: 'unknown', notVerified: [{ why: /nothing of it/ }], gaps: [{ from: 0, to: 0 }] },
      )
  }
})

t.test('a byte that is changed, missing, added or elsewhere is found, and no answer rests on it', async (t) => {
  const audited = await history(t)
  const { audit } = audited
  const fresh = async (): Promise<{ directory: string; file: string; head: string }> => {
    const directory = t.testdir()
    const { head } = await writeArchive(audit, { directory, segmentBytes: 50 })
    const [name = ''] = readdirSync(join(directory, JOURNAL, '0'))
      .filter((one) => one.includes('records'))
      .slice(3)
    return { directory, file: join(directory, JOURNAL, '0', name), head }
  }
  const flip = (file: string, at: number): void => {
    const bytes = readFileSync(file)
    bytes[at]! ^= 1
    writeFileSync(file, bytes)
  }
  const cases: Record<string, (file: string, chain: string, directory: string) => void> = {
    'a changed byte': (file) => flip(file, 40),
    'a cut file': (file) => truncateSync(file, 30),
    'a missing file': (file) => rmSync(file),
    'a changed line': (_file, chain) => flip(chain, 400),
    'a missing line': (_file, chain) => {
      const lines = readFileSync(chain, 'utf8').split('\n')
      writeFileSync(chain, [...lines.slice(0, 5), ...lines.slice(6)].join('\n'))
    },
    'lines in another order': (_file, chain) => {
      const [a, b, c, d, e, f, ...rest] = readFileSync(chain, 'utf8').split('\n')
      writeFileSync(chain, [a, b, c, d, f, e, ...rest].join('\n'))
    },
    'files changed for one another': (file) => {
      const other = file.replace('.records.', '.keys.')
      renameSync(file, `${file}.x`)
      renameSync(other, file)
      renameSync(`${file}.x`, other)
    },
    'a changed byte in merged keys': (file, _chain, directory) => {
      const merged = readdirSync(dirname(file)).find((one) => one.includes('merged-keys')) ?? ''
      flip(join(directory, JOURNAL, '0', merged), 40)
    },
    'a changed digit in the last line': (_file, chain) => {
      const text = readFileSync(chain, 'utf8')
      const at = text.lastIndexOf('"to":') + 5
      writeFileSync(chain, text.slice(0, at) + '9' + text.slice(at + 1))
    },
    'a missing line end': (_file, chain) => truncateSync(chain, statSync(chain).size - 1),
    'added bytes': (_file, chain) => appendFileSync(chain, 'x'),
    'an added file': (_file, _chain, directory) => writeFileSync(join(directory, 'extra'), 'x'),
  }
  const isPartOfNoReplay = new Set([
    'an added file',
    'added bytes',
    'a missing line end',
    'a changed byte in merged keys',
  ])
  for (const [what, damage] of Object.entries(cases)) {
    const { directory, file } = await fresh()
    damage(file, join(directory, CHAIN_FILE), directory)
    const check = await checkArchive(directory)
    t.equal(check.isSound, false, what)
    t.ok(check.faults.length > 0, what)
    if (isPartOfNoReplay.has(what)) continue
    const replayed = archived(audited, directory).then((one) => replayJournals(one, { until: end }))
    await t.rejects(replayed, { code: 'ARCHIVE_DAMAGED' }, what)
  }
  const { directory, head } = await fresh()
  const chain = join(directory, CHAIN_FILE)
  const lines = readFileSync(chain, 'utf8').trimEnd().split('\n')
  writeFileSync(chain, lines.slice(0, -1).join('\n') + '\n')
  t.match(await checkArchive(directory, { head }), { isSound: false }, 'lines cut off at the end')
})

t.test('no bit of the lines can be another without a word', async (t) => {
  const { audit, directory } = await history(t)
  await writeArchive(audit, { directory })
  const bytes = readFileSync(join(directory, CHAIN_FILE))
  const { lines } = parseChain(bytes)
  const unnoticed: number[] = []
  const codes = new Set<string>()
  for (let at = 0; at < bytes.length; at++) {
    const [written = 0, bit] = [bytes[at], 1 << (at % 8)]
    bytes[at] = written ^ bit
    try {
      const read = parseChain(bytes)
      if (read.lines.length === lines.length && read.unfinishedBytes === 0) unnoticed.push(at)
    } catch (thrown) {
      codes.add((thrown as ArchiveError).code)
    }
    bytes[at] = written
  }
  t.same(unnoticed, [])
  t.same([...codes], ['ARCHIVE_DAMAGED'])
})

t.test('an archive that another build has laid out otherwise is not read as if it were one of this', async (t) => {
  const { audit, directory } = await history(t)
  const line = { kind: 'archive', format: 3, applicationId: 'test', masked: [] } as const
  await appendLine(directory, { head: (await readChain(directory)).head, bytes: 0 }, line)
  const reads: readonly (() => Promise<unknown>)[] = [
    () => openArchive(directory),
    () => checkArchive(directory),
    () => writeArchive(audit, { directory }),
  ]
  for (const read of reads) {
    await t.rejects(read, { code: 'ARCHIVE_UNREADABLE', message: /format 3.*reads 2/ })
  }
})

t.test('a question about one key reads the segments that matter by their index, and no others', async (t) => {
  // Of the usual one a state follows from a row that every event changes.
  const subjects = { ...countingProcessor.subjects!, relatedRows: () => [] }
  const processors = [{ ...countingProcessor, subjects }]
  const { driver, send } = await auditedDriver(t, { processors })
  const audit = auditOf(driver, undefined, processors)
  await send('rare')
  for (let i = 0; i < 100; i++) {
    await send(`k${i % 5}`, 'a')
    await driver.advance(1200)
    if (i === 50) await send('rare')
  }
  const directory = t.testdir()
  await writeArchive(audit, { directory, segmentBytes: 200 })
  const subject = 'rare'
  const question = { kind: 'subject', subject } as const
  const at = { kind: 'time', time: driver.clock.now() - 30_000 } as const
  const request = { subject, at: end, limit: 5, every: false }
  const ask = async (of: Audit): Promise<{ readonly answer: unknown; readonly folded: readonly number[] }> => {
    const { wasTrue, weAnswered } = await stateAt(of, { question, at })
    const [told] = await explain(of, request)
    const works = [...(wasTrue ?? []), ...weAnswered, ...(told ? [told] : [])].map(({ folded }) => folded.entries)
    return { answer: withoutWork([wasTrue, weAnswered, told?.steps]), folded: works }
  }
  const expected = await ask(audit)
  const read = new Set<string>()
  const reading = await openArchive(directory, (file) => read.add(file))
  const asked = auditOf(driver, reading, processors)
  const told = await ask(asked)
  t.same(told.answer, expected.answer)
  for (const [i, entries] of told.folded.entries()) t.ok(entries < expected.folded[i]! / 2, `${entries} of them`)
  const segments = reading.contents.segmentsOf({ topic: JOURNAL, partition: 0 }).length
  const files = (kind: string): number => {
    return [...read].filter((file) => file.includes(`.${kind}.`) && file.startsWith(JOURNAL)).length
  }
  t.ok(segments > MERGED_SEGMENTS, `${segments} segments`)
  // The newest, where it was told twice, where the moment lies, and what is folded from a snapshot to there.
  t.ok(files('records') <= 10, `${files('records')} of ${segments} are folded`)
  t.equal(files('merged-keys'), Math.floor(segments / MERGED_SEGMENTS))
  t.ok(files('keys') < MERGED_SEGMENTS, `${files('keys')} of them are looked into one by one`)
})

/** Keys of devices follow from the plugin that their row names last: `device:1`, and `plugin-1` for an event of the plugin itself. */
const pluggedIn: Processor = {
  ...(countingProcessor as Processor),
  evolve({ data }, context) {
    const { key, mode } = data as { readonly key: string; readonly mode: string }
    if (key.startsWith('plugin-')) context.put(totals, key, { total: (context.get(totals, key)?.total ?? 0) + 1 })
    else context.put(counts, key, { count: Number(mode), woken: 0, lastOffset: 0, due: 0 })
  },
  subjects: {
    relatedRows: (subject, get) => [{ table: totals, key: `plugin-${get(counts, subject)?.count ?? 0}` }],
    state: (subject, get) => {
      const plugin = `plugin-${get(counts, subject)?.count ?? 0}`
      return { plugin, total: get(totals, plugin)?.total ?? 0 }
    },
  },
}

t.test('a state is explained by the rows that it followed from at the time', async (t) => {
  const processors = [pluggedIn]
  const { driver, send } = await auditedDriver(t, { processors })
  const audit = auditOf(driver, undefined, processors)
  for (const value of ['a:1', 'plugin-1', 'plugin-2', 'a:2', 'plugin-2']) {
    await send(value)
    for (let i = 0; i < 10; i++) await send('other:3')
  }
  const directory = t.testdir()
  await writeArchive(audit, { directory, segmentBytes: 200 })
  const request = { subject: 'a', at: end, limit: 10, every: false }
  const steps = async (of: Audit): Promise<unknown> =>
    (await explain(of, request))[0]?.steps.map(({ before, after }) => [before, after])
  const archived = auditOf(driver, await openArchive(directory), processors)
  const expected = [
    [
      { plugin: 'plugin-0', total: 0 },
      { plugin: 'plugin-1', total: 0 },
    ],
    [
      { plugin: 'plugin-1', total: 0 },
      { plugin: 'plugin-1', total: 1 },
    ],
    [
      { plugin: 'plugin-1', total: 1 },
      { plugin: 'plugin-2', total: 1 },
    ],
    [
      { plugin: 'plugin-2', total: 1 },
      { plugin: 'plugin-2', total: 2 },
    ],
  ]
  t.same(await steps(audit), expected)
  t.same(await steps(archived), expected)
})

/** All that is in the files of an archive, as text. */
function contentOf(directory: string): string {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  const contents = files.map((file) => {
    const path = join(directory, file)
    if (!statSync(path).isFile()) return ''
    return (file.endsWith('.gz') ? gunzipSync(readFileSync(path)) : readFileSync(path)).toString('latin1')
  })
  return contents.join()
}

t.test(
  'masked texts are nowhere in an archive: not in timers, over several runs, nor where their events are lost',
  async (t) => {
    const audited = await auditedDriver(t)
    const { audit, driver, send } = audited
    const masks = ['Counted.key', 'actor', 'reason', 'commandId']
    const take = async (directory: string): Promise<void> => {
      const masking = maskingOf(driver.log, new Map([[JOURNAL, countingProcessor]]), masks, Buffer.from('a secret'))
      await writeArchive({ ...audit, source: { reader: masking.reader, masked: masks } }, { directory, masking })
    }
    const directory = t.testdir({ whole: {}, late: {} })
    const [whole, late] = [join(directory, 'whole'), join(directory, 'late')]
    const command = { type: 'Counted', data: { key: 'anna-1', mode: '' } }
    const options = { commandId: 'by-anna-2', actor: 'anna-3', reason: 'for anna-4', timeoutMs: 5000 }
    await driver.application.command('counting', { key: 'anna-1' }, command, options)
    await send('anna-5:timer')
    const { end: armed } = await driver.log.offsets({ topic: JOURNAL, partition: 0 })
    await take(whole)
    await driver.advance(2000)
    await take(whole)
    t.match(contentOf(whole), /masked-[0-9a-f]{16}/)
    t.notMatch(contentOf(whole), /anna/)
    const { weAnswered } = await stateAt(await archived(audited, whole), { question: { kind: 'all' }, at: end })
    const rows = weAnswered[0]?.result as { table: string; row: { woken?: number } }[]
    t.same(
      rows
        .filter(({ table }) => table === 'counts')
        .map(({ row }) => row.woken)
        .sort(),
      [0, 1],
    )
    await driver.log.deleteBefore({ topic: JOURNAL, partition: 0 }, armed)
    await take(late)
    t.match(contentOf(late), /"gaps":\[\{/)
    t.notMatch(contentOf(late), /anna/)
    t.match(await checkArchive(late), { isSound: true })
  },
)

t.test('a field that there is not is refused, as it would mask nothing', (t) => {
  const mask = (field: string) => (): unknown =>
    maskingOf(audit.reader, new Map([[JOURNAL, countingProcessor]]), [field], Buffer.from('x'))
  const audit = { reader: {} as JournalReader }
  for (const field of ['Counted.kex', 'Count.key', 'key', '*.kex', 'Counted.key.x', '']) {
    t.throws(mask(field), { code: 'ARCHIVE_MASK_INVALID' }, field)
  }
  for (const field of ['Counted', 'Counted.key', '*.key', 'actor']) t.doesNotThrow(mask(field), field)
  t.end()
})

t.test('masked fields are nowhere in an archive, and its chain still checks', async (t) => {
  const audited = await history(t)
  const { audit, directory, driver } = audited
  const journals = new Map([[JOURNAL, countingProcessor]])
  const masking = maskingOf(driver.log, journals, ['Counted.key'], Buffer.from('secret'))
  const masked = { ...audit, source: { reader: masking.reader, masked: ['Counted.key'] } }
  await writeArchive(masked, { directory, masking, segmentBytes: 200 })
  t.match(await checkArchive(directory), { isSound: true, masked: ['Counted.key'] })
  const { weAnswered } = await stateAt(await archived(audited, directory), { question: { kind: 'all' }, at: end })
  const keys = (weAnswered[0]?.result as { table: string; key: string }[])
    .filter(({ table }) => table === 'counts')
    .map(({ key }) => key)
  t.ok(keys.length > 5)
  t.ok(keys.every((key) => key.startsWith('masked-')))
  t.match(await verify(await archived(audited, directory), {}), [{ verdict: 'unknown' }])
  await t.rejects(writeArchive(audit, { directory }), { code: 'ARCHIVE_OTHER' })
})
