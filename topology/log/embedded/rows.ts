/*
 * Keys of the log's rows. The first byte names the kind:
 *   b topic number, partition, base offset -> batch      p topic number, partition -> partition row
 *   t topic name -> topic row                             g group, topic number, partition -> group position
 *   w transactional id -> writer's epoch
 */
const kinds = { batch: 0x62, partition: 0x70, topic: 0x74, position: 0x67, writer: 0x77 } as const

/** Above each offset a partition can reach. */
export const offsetLimit = 2 ** 53

export function batchKey(topicNumber: number, partition: number, baseOffset: number): Buffer {
  const key = Buffer.allocUnsafe(17)
  key[0] = kinds.batch
  key.writeUInt32BE(topicNumber, 1)
  key.writeUInt32BE(partition, 5)
  key.writeUInt32BE(Math.floor(baseOffset / 2 ** 32), 9)
  key.writeUInt32BE(baseOffset % 2 ** 32, 13)
  return key
}

export function baseOffsetOf(key: Buffer): number {
  return key.readUInt32BE(9) * 2 ** 32 + key.readUInt32BE(13)
}

export function partitionKey(topicNumber: number, partition: number): Buffer {
  const key = Buffer.allocUnsafe(9)
  key[0] = kinds.partition
  key.writeUInt32BE(topicNumber, 1)
  key.writeUInt32BE(partition, 5)
  return key
}

export function topicKey(name: string): Buffer {
  return Buffer.concat([Buffer.of(kinds.topic), Buffer.from(name)])
}

export function positionKey(group: string, topicNumber: number, partition: number): Buffer {
  const name = Buffer.from(group)
  const key = Buffer.allocUnsafe(name.length + 9)
  key[0] = kinds.position
  name.copy(key, 1)
  key.writeUInt32BE(topicNumber, name.length + 1)
  key.writeUInt32BE(partition, name.length + 5)
  return key
}

export function writerKey(transactionalId: string): Buffer {
  return Buffer.concat([Buffer.of(kinds.writer), Buffer.from(transactionalId)])
}

/** All rows of a kind, and the text of such a key. */
export const topicRows = rangeOf(kinds.topic)
export const writerRows = rangeOf(kinds.writer)

function rangeOf(kind: number): { readonly gt: Buffer; readonly lt: Buffer } {
  return { gt: Buffer.of(kind), lt: Buffer.of(kind + 1) }
}

export function textOf(key: Buffer): string {
  return key.toString('utf8', 1)
}
