import { join } from 'node:path'
import t from 'tap'
import { memoryProvider } from '../../state-stores/memory/provider.js'
import { countingProcessor } from '../counting-processor.js'
import { openArchive } from '../archive/archive-source.js'
import { maskingOf } from '../archive/mask.js'
import { writeArchive } from '../archive/write-archive.js'
import { blockCodec } from '../journal/block-codec.js'
import type { JournalEntry, OwnerEntry } from '../journal/entry.js'
import type { LogRecord } from '../log/log.js'
import type { Audit } from './audit.js'
import type { JournalReader } from './journal-source.js'
import { stateAt } from './state-at.js'

const codec = blockCodec(countingProcessor.events)
let sources = 0
const source = () => ({ source: 'http/a', offset: ++sources, index: 0 })
const event = (): JournalEntry => ({
  kind: 'event',
  source: source(),
  event: { type: 'Counted', data: { key: 'a', mode: '' } },
})
const term = (epoch: number, instance: string): OwnerEntry => {
  const preloaded = instance.includes('/')
  return { kind: 'owner', source: source(), epoch, foldVersion: 1, settings: '{}', preloaded, instance }
}

/** A log of one partition for each topic, with an entry a record, stamped by the second. */
function logOf(topics: Readonly<Record<string, readonly JournalEntry[]>>): JournalReader {
  const recordsOf = (topic: string): readonly LogRecord[] =>
    (topics[topic] ?? []).map((entry, offset) => {
      return { offset, timestamp: 1000 * (offset + 1), key: null, value: codec.encode([entry]), headers: [] }
    })
  return {
    topic: (name) => Promise.resolve(name in topics ? { name, partitions: 1, incarnation: 'one' } : undefined),
    offsets: ({ topic }) => Promise.resolve({ start: 0, end: recordsOf(topic).length }),
    offsetForTime: ({ topic }, time) =>
      Promise.resolve(recordsOf(topic).filter(({ timestamp }) => timestamp < time).length),
    read: ({ topic, partition }, offset) => {
      const records = recordsOf(topic)
      const [next, end] = [records.length, records.length]
      return Promise.resolve({ topic, partition, records: records.slice(offset), next, end })
    },
  }
}

const own = 'test-counting-journal'
const taken = [term(1, 'start-1'), event(), term(1001, 'primary/load-1')]
const others = [term(2, 'start-1'), event(), event(), term(2002, 'secondary/load-1'), event()]
others.splice(1, 1, { kind: 'timer', source: source(), due: 1, id: 'wake/a', epoch: 2 })
const audit = (
  others: Readonly<Record<string, readonly JournalEntry[]>>,
  peerJournal?: Audit['peerJournal'],
): Audit => ({
  source: { reader: logOf({ [own]: taken, ...others }) },
  applicationId: 'test',
  processors: [countingProcessor],
  peerJournal,
  openStore: () => memoryProvider().open('store'),
})
const peerJournal = (domain: string): string => `peer-${domain}-journal`
const mirror = `mirror.secondary.${own}`
const copies: Readonly<Record<string, readonly [topic: string, of: Audit]>> = {
  'a mirror': [mirror, audit({ [mirror]: others })],
  'the journal itself, in a log that both have': [
    'peer-counting-journal',
    audit({ 'peer-counting-journal': others }, peerJournal),
  ],
}

for (const [what, [topic, of]] of Object.entries(copies)) {
  t.test(`what was loaded of another site, and what was not, is named by ${what}`, async (t) => {
    const question = { kind: 'subject', subject: 'a' } as const
    const gapsAt = async (time?: number): Promise<unknown> => {
      const at = time === undefined ? ({ kind: 'end' } as const) : ({ kind: 'time', time } as const)
      const { wasTrue, weAnswered } = await stateAt(of, { question, at })
      return { wasTrue: wasTrue?.[0]?.gaps, weAnswered: weAnswered[0]?.gaps }
    }
    const loaded = { topic, partition: 0, from: 0, to: 3, loadedAt: 2 }
    const notLoaded = { topic, partition: 0, from: 3, to: 5, loadedAt: null }
    t.same(await gapsAt(), { wasTrue: undefined, weAnswered: [loaded, notLoaded] })
    t.same(await gapsAt(4000), {
      wasTrue: [loaded, notLoaded],
      weAnswered: [loaded, { ...notLoaded, to: 4 }],
    })
    t.same(await gapsAt(2000), {
      wasTrue: [loaded, notLoaded],
      weAnswered: [{ ...notLoaded, from: 0, to: 2 }],
    })
  })
}

for (const [what, [topic, of]] of Object.entries(copies)) {
  t.test(`an archive of a site holds what it has of another one: ${what}`, async (t) => {
    const directory = t.testdir({ plain: {}, masked: {} })
    const plain = join(directory, 'plain')
    await writeArchive(of, { directory: plain })
    const { reader } = await openArchive(plain)
    const at = { topic, partition: 0 }
    t.same(await reader.offsets(at), { start: 0, end: others.length })
    t.same((await reader.read(at, 0)).records, (await of.source.reader.read(at, 0)).records)
    const asked = { question: { kind: 'all' }, at: { kind: 'end' } } as const
    const archived = { ...of, source: await openArchive(plain) }
    const gapsOf = async (one: Audit): Promise<unknown> => (await stateAt(one, asked)).weAnswered[0]?.gaps
    t.same(await gapsOf(archived), await gapsOf(of))

    const masked = ['*.key']
    const journals = new Map([[own, countingProcessor]])
    const masking = maskingOf(of.source.reader, journals, masked, Buffer.from('secret'), of.peerJournal)
    const target = join(directory, 'masked')
    await writeArchive({ ...of, source: { reader: masking.reader, masked } }, { directory: target, masking })
    const records = (await (await openArchive(target)).reader.read(at, 0)).records
    const entries = records.flatMap(({ value }) => codec.decode(value!))
    const keys = entries.flatMap((entry) => (entry.kind === 'event' ? [(entry.event.data as { key: string }).key] : []))
    t.equal(keys.length, 2)
    for (const key of keys) t.match(key, /^masked-/)
    t.same(
      entries.flatMap((entry) => (entry.kind === 'timer' ? [entry.id] : [])),
      ['masked'],
    )
  })
}

t.test('where the other journal cannot be read, it is told when it was loaded', async (t) => {
  const { weAnswered } = await stateAt(audit({}), { question: { kind: 'all' }, at: { kind: 'end' } })
  t.same(weAnswered[0]?.gaps, [{ topic: `secondary.${own}`, partition: 0, from: 0, to: 0, loadedAt: 2 }])
})
