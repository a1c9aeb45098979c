import type { BlockCodec } from '../journal/block-codec.js'
import { readableRecords } from '../journal/readable-records.js'
import type { OwnerEntry } from '../journal/entry.js'
import type { TopicPartition } from '../log/log.js'
import { names } from '../names.js'
import type { Gap, JournalReader } from './journal-source.js'

const SITES = ['primary', 'secondary']

/**
 * What a term that begins with a pre-load has taken from the other site's journal: in the mirror all before a term as high, for the
 * other site's terms were lower. (two sites, "What is loaded")
 */
export async function loadedRecords(
  reader: JournalReader,
  codec: BlockCodec,
  journal: TopicPartition,
  { epoch, instance }: OwnerEntry,
  loadedAt: number,
): Promise<Gap> {
  const { partition } = journal
  const own = instance.slice(0, instance.indexOf('/'))
  const other = SITES.find((site) => site !== own) ?? ''
  const mirror = { topic: names.mirror(other, journal.topic), partition }
  if ((await reader.topic(mirror.topic)) === undefined) {
    return { topic: names.siteJournal(other, journal.topic), partition, from: 0, to: 0, loadedAt }
  }
  const { start: from, end } = await reader.offsets(mirror)
  for (let offset = from; offset < end;) {
    const { records, next } = await reader.read(mirror, offset)
    for (const record of readableRecords(codec, mirror, records, () => undefined)) {
      const isLater = record.entries.some((entry) => entry.kind === 'owner' && entry.epoch >= epoch)
      if (isLater) return { ...mirror, from, to: record.offset, loadedAt }
    }
    if (next <= offset) break
    offset = next
  }
  return { ...mirror, from, to: end, loadedAt }
}

/** What this site has of the other's journal by a time (ms; absent: by now), and has not loaded: nothing here follows from it. */
export async function unloadedRecords(
  reader: JournalReader,
  { topic, partition }: TopicPartition,
  loaded: readonly Gap[],
  upTo?: number,
): Promise<readonly Gap[]> {
  const unloaded: Gap[] = []
  for (const site of SITES) {
    const mirror = { topic: names.mirror(site, topic), partition }
    if ((await reader.topic(mirror.topic)) === undefined) continue
    const { start, end } = await reader.offsets(mirror)
    const to = upTo === undefined ? end : await reader.offsetForTime(mirror, upTo + 1)
    const from = Math.max(start, ...loaded.filter((gap) => gap.topic === mirror.topic).map((gap) => gap.to))
    if (from < to) unloaded.push({ ...mirror, from, to, loadedAt: null })
  }
  return unloaded
}
