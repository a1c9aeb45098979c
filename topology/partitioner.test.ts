import t from 'tap'
import { murmur2, partitionOf } from './partitioner.js'

/** Key, and what kafka-clients 3.9.1 gives: Utils.murmur2, BuiltInPartitioner.partitionForKey of 12 and of 7 partitions. */
const vectors: readonly (readonly [key: string | Buffer, hash: number, of12: number, of7: number])[] = [
  ['', 275646681, 9, 2],
  ['a', -1563381124, 4, 5],
  ['ab', 316155434, 2, 0],
  ['abc', 479470107, 3, 4],
  ['abcd', -1323649548, 8, 5],
  ['abcde', 461995741, 1, 4],
  ['abcdef', 1870650108, 0, 5],
  ['abcdefg', -346467175, 1, 4],
  ['abcdefgh', -955427363, 9, 0],
  ['abcdefghi', -619679810, 6, 1],
  ['device-1', 1007784178, 10, 2],
  ['cm-handle/ran-sim-00042', 1986863423, 11, 6],
  ['größe-✓', -1662130070, 6, 3],
  ['設備', 1058009228, 8, 3],
  ['📡', -820796377, 7, 0],
  ['http://dmi-plugin:8080', -653784760, 4, 3],
  ['The quick brown fox jumps over the lazy dog', 495243318, 6, 3],
  [Buffer.from('00', 'hex'), 375494588, 8, 0],
  [Buffer.from('ff', 'hex'), -311467685, 3, 5],
  [Buffer.from('80', 'hex'), 857690492, 8, 1],
  [Buffer.from('0000000000', 'hex'), 263274959, 11, 3],
  [Buffer.from('ffffffffffff80', 'hex'), 1976710925, 5, 0],
  [Buffer.from('fefdfcfbfaf9f8f7f6', 'hex'), 1280485054, 10, 2],
  [Buffer.from('80818283848586878889', 'hex'), -747021724, 4, 1],
  [Buffer.from(Array.from({ length: 256 }, (_, i) => i)), -1948347274, 10, 3],
]

t.test('keys hash and land as with the Java client', async (t) => {
  for (const [key, hash, of12, of7] of vectors) {
    const name = typeof key === 'string' ? JSON.stringify(key) : key.toString('hex', 0, 20)
    t.equal(murmur2(Buffer.from(key)), hash, `murmur2 of ${name}`)
    t.equal(partitionOf(key, 12), of12, `${name} of 12`)
    t.equal(partitionOf(key, 7), of7, `${name} of 7`)
  }
})

t.test('a view into a larger buffer hashes as its own bytes', async (t) => {
  const inside = Buffer.from('xxdevice-1yy').subarray(2, 10)
  t.equal(murmur2(inside), murmur2(Buffer.from('device-1')))
})
