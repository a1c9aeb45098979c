/** murmur2 as Kafka's Java client computes it: 32 bit, seed 0x9747b28c. */
export function murmur2(data: Uint8Array): number {
  const m = 0x5bd1e995
  const length = data.length
  const view = new DataView(data.buffer, data.byteOffset, length)
  let h = (0x9747b28c ^ length) | 0
  const blocks = length >> 2
  for (let i = 0; i < blocks; i++) {
    let k = view.getInt32(i * 4, true)
    k = Math.imul(k, m)
    k ^= k >>> 24
    k = Math.imul(k, m)
    h = Math.imul(h, m) ^ k
  }
  const tail = blocks * 4
  const rest = length & 3
  if (rest === 3) h ^= view.getUint8(tail + 2) << 16
  if (rest >= 2) h ^= view.getUint8(tail + 1) << 8
  if (rest >= 1) {
    h ^= view.getUint8(tail)
    h = Math.imul(h, m)
  }
  h ^= h >>> 13
  h = Math.imul(h, m)
  h ^= h >>> 15
  return h
}

/** The partition that Kafka's default partitioner gives a keyed record, so that a Java producer's key lands where ours does. */
export function partitionOf(key: string | Uint8Array, partitions: number): number {
  const bytes = typeof key === 'string' ? Buffer.from(key, 'utf8') : key
  return (murmur2(bytes) & 0x7fffffff) % partitions
}
