import fc from 'fast-check'
import t from 'tap'
import {
  createDigest,
  createStoreDigest,
  deserializeDigest,
  deserializeStoreDigest,
  digestBucket,
  digestBuckets,
  withoutPositions,
} from './digest.js'
import type { Digest } from './digest.js'

const bytes = (minLength: number) => fc.uint8Array({ minLength, maxLength: 40 }).map((array) => Buffer.from(array))
const key = fc.constantFrom('a', 'b', 'ab', 'ba', 'aa', 'é', 'handle-1').map((text) => Buffer.from(text))
const changes = fc.array(fc.tuple(key, fc.option(bytes(0))), { maxLength: 40 })

/** Applies puts and deletes as a store's owner does: the former value is taken back first. */
function fold(digest: Pick<Digest, 'add' | 'remove'>, operations: readonly (readonly [Buffer, Buffer | null])[]) {
  const rows = new Map<string, Buffer>()
  for (const [rowKey, value] of operations) {
    const name = rowKey.toString()
    const former = rows.get(name)
    if (former !== undefined) digest.remove(rowKey, former)
    rows.delete(name)
    if (value === null) continue
    digest.add(rowKey, value)
    rows.set(name, value)
  }
  return rows
}

function digestOf(rows: ReadonlyMap<string, Buffer>): Digest {
  const digest = createDigest()
  for (const [name, value] of rows) digest.add(Buffer.from(name), value)
  return digest
}

t.test('any order of puts and deletes gives the digest of the rows that are left', async (t) => {
  fc.assert(
    fc.property(changes, fc.array(fc.nat()), (operations, order) => {
      const digest = createDigest()
      const rows = fold(digest, operations)
      const shuffled = [...rows].sort((a, b) => (order[a[1].length] ?? 0) - (order[b[1].length] ?? 0))
      return digest.equals(digestOf(new Map(shuffled))) && digest.toHex() === digestOf(rows).toHex()
    }),
  )
  t.pass()
})

t.test('different rows have different digests, and differ in the bucket of the changed key', async (t) => {
  fc.assert(
    fc.property(changes, key, bytes(0), (operations, changedKey, value) => {
      const rows = fold(createDigest(), operations)
      const changed = new Map(rows).set(changedKey.toString(), Buffer.concat([value, Buffer.from([1])]))
      const former = rows.get(changedKey.toString())
      if (former !== undefined && changed.get(changedKey.toString())?.equals(former) === true) return true
      const [a, b] = [digestOf(rows), digestOf(changed)]
      const differing = Array.from({ length: digestBuckets }, (_, i) => i).filter(
        (i) => a.bucketHex(i) !== b.bucketHex(i),
      )
      return !a.equals(b) && a.toHex() !== b.toHex() && differing.join() === String(digestBucket(changedKey))
    }),
  )
  t.pass()
})

t.test('where the key ends and the value begins is part of the row', async (t) => {
  const digest = createDigest()
  const other = createDigest()
  digest.add(Buffer.from('ab'), Buffer.from('c'))
  other.add(Buffer.from('a'), Buffer.from('bc'))
  t.not(digest.toHex(), other.toHex())
})

t.test('sums carry over: 1,000 rows added and taken back in another order leave nothing', async (t) => {
  const digest = createDigest()
  const empty = createDigest().toHex()
  const keys = Array.from({ length: 1000 }, (_, i) => Buffer.from(`handle-${i}`))
  for (const each of keys) digest.add(each, each)
  t.not(digest.toHex(), empty)
  for (const each of keys.reverse()) digest.remove(each, each)
  t.equal(digest.toHex(), empty)
  t.ok(digest.equals(createDigest()))
})

t.test('the digest of given rows never changes: a stored one must stay comparable', async (t) => {
  const digest = createDigest()
  for (const name of ['a', 'b', 'handle-1']) digest.add(Buffer.from(name), Buffer.from(`value of ${name}`))
  t.equal(createDigest().toHex(), 'f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b')
  t.equal(digest.toHex(), 'e76cbc70a122cdfacf070473e18560c3ee468334145a9e84cc943b316ef7a2f7')
})

t.test('keys spread evenly over the buckets', async (t) => {
  const counts = new Array<number>(digestBuckets).fill(0)
  for (let i = 0; i < 16_000; i++) counts[digestBucket(Buffer.from(`handle-${i}`))]! += 1
  for (const [bucket, count] of counts.entries()) t.ok(count > 800 && count < 1200, `bucket ${bucket}: ${count}`)
})

t.test('a serialized digest goes on where it was', async (t) => {
  fc.assert(
    fc.property(changes, changes, (before, after) => {
      const digest = createStoreDigest()
      fold(digest, before)
      const restored = deserializeStoreDigest(digest.serialize())
      for (const [rowKey] of after) {
        digest.add(rowKey, rowKey)
        restored.add(rowKey, rowKey)
      }
      return restored.rows.equals(digest.rows) && restored.withoutPositions.equals(digest.withoutPositions)
    }),
  )
  const single = createDigest()
  single.add(Buffer.from('a'), Buffer.from('b'))
  t.equal(deserializeDigest(single.serialize()).toHex(), single.toHex())
  t.throws(() => deserializeDigest(Buffer.alloc(7)), RangeError)
  t.throws(() => deserializeStoreDigest(single.serialize()), RangeError)
})

t.test('the second digest leaves the positions at the end of the values out', async (t) => {
  const value = (body: string, positions: string) =>
    Buffer.concat([Buffer.from(body), Buffer.from(positions), Buffer.from([positions.length])])
  const here = createStoreDigest()
  const there = createStoreDigest()
  here.add(Buffer.from('a'), value('COMPLETE', '0:17'))
  there.add(Buffer.from('a'), value('COMPLETE', '3:123456'))
  t.notOk(here.rows.equals(there.rows))
  t.ok(here.withoutPositions.equals(there.withoutPositions))

  const body = createDigest()
  body.add(Buffer.from('a'), Buffer.from('COMPLETE'))
  t.ok(here.withoutPositions.equals(body))
  there.remove(Buffer.from('a'), value('COMPLETE', '3:123456'))
  there.add(Buffer.from('a'), value('NONE', '3:123456'))
  t.notOk(here.withoutPositions.equals(there.withoutPositions))
})

t.test('withoutPositions', async (t) => {
  const cases: [name: string, value: number[], body: number[]][] = [
    ['positions of no bytes', [7, 8, 0], [7, 8]],
    ['positions of two bytes', [7, 1, 2, 2], [7]],
    ['no body', [1, 2, 2], []],
    ['an empty value', [], []],
    ['a length beyond the value: all of it is body', [7, 9], [7, 9]],
  ]
  for (const [name, value, body] of cases) t.same([...withoutPositions(Buffer.from(value))], body, name)
})
