import type { BlockCodec } from '../journal/block-codec.js'
import { readableRecords } from '../journal/readable-records.js'
import type { OwnerEntry } from '../journal/entry.js'
import type { TopicPartition } from '../log/log.js'
import { names } from '../names.js'
import type { Gap, JournalReader } from './journal-source.js'

const SITES = ['primary', 'secondary']

/** Topics that may hold what there is here of another site's journal: a mirror, or that journal itself where both have one log. */
export function copiesOf(journal: string, peerJournal: string | undefined): readonly string[] {
  return [...SITES.map((site) => names.mirror(site, journal)), ...(peerJournal === undefined ? [] : [peerJournal])]
}

/**
 * What a term that begins with a pre-load has taken from the other site's journal: all before a term as high, for the other site's
 * terms were lower. `peerJournal`: the topic of that journal, where it is in the same log and has no mirror. (two sites, "What is loaded")
 */
export async function loadedRecords(
  reader: JournalReader,
  codec: BlockCodec,
  journal: TopicPartition,
  { epoch, instance }: OwnerEntry,
  loadedAt: number,
  peerJournal: string | undefined,
): Promise<Gap> {
  const { partition } = journal
  const own = instance.slice(0, instance.indexOf('/'))
  const other = SITES.find((site) => site !== own) ?? ''
  const [copy] = await topicsThere(reader, [names.mirror(other, journal.topic), peerJournal])
  if (copy === undefined) {
    return { topic: names.siteJournal(other, journal.topic), partition, from: 0, to: 0, loadedAt }
  }
  const loaded = { topic: copy, partition }
  const { start: from, end } = await reader.offsets(loaded)
  for (let offset = from; offset < end;) {
    const { records, next } = await reader.read(loaded, offset)
    for (const record of readableRecords(codec.decode, loaded, records, () => undefined)) {
      const isLater = record.entries.some((entry) => entry.kind === 'owner' && entry.epoch >= epoch)
      if (isLater) return { ...loaded, from, to: record.offset, loadedAt }
    }
    if (next <= offset) break
    offset = next
  }
  return { ...loaded, from, to: end, loadedAt }
}

/** What this site has of the other's journal by a time (ms; absent: by now), and has not loaded: nothing here follows from it. */
export async function unloadedRecords(
  reader: JournalReader,
  { topic: journal, partition }: TopicPartition,
  loaded: readonly Gap[],
  { upTo, peerJournal }: { readonly upTo: number | undefined; readonly peerJournal: string | undefined },
): Promise<readonly Gap[]> {
  const copies = await topicsThere(reader, copiesOf(journal, peerJournal))
  const unloaded = copies.map(async (topic) => {
    const copy = { topic, partition }
    const { start, end } = await reader.offsets(copy)
    const to = upTo === undefined ? end : await reader.offsetForTime(copy, upTo + 1)
    const from = Math.max(start, ...loaded.filter((gap) => gap.topic === topic).map((gap) => gap.to))
    return { ...copy, from, to, loadedAt: null }
  })
  return (await Promise.all(unloaded)).filter(({ from, to }) => from < to)
}

async function topicsThere(reader: JournalReader, topics: readonly (string | undefined)[]): Promise<readonly string[]> {
  const there: string[] = []
  for (const topic of topics) {
    if (topic !== undefined && (await reader.topic(topic)) !== undefined) there.push(topic)
  }
  return there
}
