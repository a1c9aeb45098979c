import { MessageChannel } from 'node:worker_threads'
import t from 'tap'
import type { Test } from 'tap'
import { LogError } from '../log/errors.js'
import type { LogRecord } from '../log/log.js'
import type { JournalReader } from './journal-source.js'
import { portReader, serveReader } from './port-reader.js'

const journal = { topic: 'j', partition: 2 }
const record = (offset: number, value: string | null): LogRecord => {
  return { offset, timestamp: offset * 10, key: null, value: value === null ? null : Buffer.from(value), headers: [] }
}
const records = [record(4, 'four'), record(5, ''), record(7, null), record(8, 'eight')]

function subject(t: Test, reader: Partial<JournalReader>): JournalReader {
  const { port1, port2 } = new MessageChannel()
  t.teardown(() => port1.close())
  serveReader(port1, reader as JournalReader)
  return portReader(port2)
}

t.test('records come over as they are read, the original untouched', async (t) => {
  const asked: unknown[] = []
  const reader = subject(t, {
    read: (...args) => {
      asked.push(args)
      return Promise.resolve({ ...journal, records, next: 9, end: 12 })
    },
  })
  const [first, second] = await Promise.all([reader.read(journal, 4, { maxBytes: 7 }), reader.read(journal, 4)])
  t.same(first, { ...journal, records, next: 9, end: 12 })
  t.same(second, first)
  t.ok(Buffer.isBuffer(first.records[0]?.value))
  t.same(asked, [
    [journal, 4, { maxBytes: 7 }],
    [journal, 4, undefined],
  ])
  t.equal(records[0]?.value?.toString(), 'four')
})

t.test('all other questions come back answered', async (t) => {
  const reader = subject(t, {
    topic: (name) => Promise.resolve(name === 'j' ? { name, partitions: 3, incarnation: 'i' } : undefined),
    offsets: () => Promise.resolve({ start: 1, end: 9 }),
    offsetForTime: (_journal, time) => Promise.resolve(time + 1),
  })
  t.same(await reader.topic('j'), { name: 'j', partitions: 3, incarnation: 'i' })
  t.equal(await reader.topic('k'), undefined)
  t.same(await reader.offsets(journal), { start: 1, end: 9 })
  t.equal(await reader.offsetForTime(journal, 5), 6)
})

t.test('a refusal over there rejects here with its words, and the next question is answered', async (t) => {
  const reader = subject(t, {
    read: () => Promise.reject(new LogError('LOG_DAMAGED', 'the batch at offset 4 is not readable')),
    offsets: () => Promise.resolve({ start: 0, end: 0 }),
  })
  await t.rejects(reader.read(journal, 4), {
    message: 'the batch at offset 4 is not readable',
    code: 'LOG_DAMAGED',
    action: /.{10}/,
  })
  t.same(await reader.offsets(journal), { start: 0, end: 0 })
})
