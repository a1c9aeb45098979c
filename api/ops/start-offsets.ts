import { cut } from '../../common/errors.js'
import type { Api } from '../api.js'
import { ApiError } from '../errors.js'

/**
 * Where a feed of a topic begins, one offset a partition, and where the partitions end now. An id names the offsets to go on
 * from. Errors: TOPIC_NOT_FOUND, PARAMETER_INVALID.
 */
export async function startOffsets(
  api: Api,
  topic: string,
  lastEventId: string | undefined,
  from: 'earliest' | 'latest',
): Promise<{ readonly from: readonly number[]; readonly ends: readonly number[] }> {
  const described = await api.streams.log.topic(topic)
  if (described === undefined) throw new ApiError('TOPIC_NOT_FOUND', `topic ${topic} does not exist`)
  const partitions = [...Array(described.partitions).keys()]
  const ranges = await Promise.all(partitions.map((partition) => api.streams.log.offsets({ topic, partition })))
  const ends = ranges.map(({ end }) => end)
  if (lastEventId === undefined) return { from: from === 'earliest' ? ranges.map(({ start }) => start) : ends, ends }
  const offsets = lastEventId.split(',').map((part) => (/^\d{1,15}$/.test(part) ? Number(part) : NaN))
  const isOurs = offsets.length === partitions.length && offsets.every((offset, i) => offset <= (ends[i] ?? -1))
  if (!isOurs) {
    const meant = `${partitions.length} offsets by comma, none beyond the end`
    throw new ApiError('PARAMETER_INVALID', `Last-Event-ID: ${cut(lastEventId)} is not ${meant}`)
  }
  return { from: offsets, ends }
}
