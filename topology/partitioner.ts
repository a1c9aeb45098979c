import { ReusedBytes } from '../common/reused-bytes.js'

const keyBytes = new ReusedBytes()

/** murmur2 as Kafka's Java client computes it: 32 bit, seed 0x9747b28c. */
export function murmur2(data: Uint8Array): number {
  const m = 0x5bd1e995
  const length = data.length
  let h = (0x9747b28c ^ length) | 0
  const blocks = length >> 2
  for (let i = 0; i < blocks; i++) {
    const at = i * 4
    let k = (data[at] as number) | ((data[at + 1] as number) << 8)
    k |= ((data[at + 2] as number) << 16) | ((data[at + 3] as number) << 24)
    k = Math.imul(k, m)
    k ^= k >>> 24
    k = Math.imul(k, m)
    h = Math.imul(h, m) ^ k
  }
  const tail = blocks * 4
  const rest = length & 3
  if (rest === 3) h ^= (data[tail + 2] as number) << 16
  if (rest >= 2) h ^= (data[tail + 1] as number) << 8
  if (rest >= 1) {
    h ^= data[tail] as number
    h = Math.imul(h, m)
  }
  h ^= h >>> 13
  h = Math.imul(h, m)
  h ^= h >>> 15
  return h
}

/** The partition that Kafka's default partitioner gives a keyed record, so that a Java producer's key lands where ours does. */
export function partitionOf(key: string | Uint8Array, partitions: number): number {
  const bytes = typeof key === 'string' ? keyBytes.utf8(key) : key
  return (murmur2(bytes) & 0x7fffffff) % partitions
}
