import type { SourcePosition } from '../processor.js'
import type { JournalReader } from './journal-source.js'

/** Who sent the record at a source position of an input topic: its `ce_source`; undefined where the log no longer has it. */
export async function producerOf(
  reader: JournalReader,
  { source, offset }: SourcePosition,
): Promise<string | undefined> {
  const [, topic, digits, incarnation] = /^(.+)\/(\d+)@(.+)$/.exec(source) ?? []
  if (topic === undefined) return undefined
  const described = await reader.topic(topic)
  if (described === undefined || described.incarnation !== incarnation) return undefined
  const partition = { topic, partition: Number(digits) }
  const { start, end } = await reader.offsets(partition)
  if (offset < start || offset >= end) return undefined
  const [record] = (await reader.read(partition, offset, { maxRecords: 1 })).records
  if (record?.offset !== offset) return undefined
  return record.headers.find(([name]) => name === 'ce_source')?.[1].toString()
}
