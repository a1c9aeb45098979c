import t from 'tap'
import type { KeyValueStore, WriteOperation } from '../../state-stores/key-value-store.js'
import { countingProcessor } from '../counting-processor.js'
import { inputRecord } from '../system/counting-run.js'
import { TopologyTestDriver } from '../test-driver.js'
import { checkStore } from './check-store.js'
import { commitKeys } from './commit-record.js'
import { prefixRange } from './row-store.js'
import { tableRuntimes } from './table-runtime.js'

const { tables } = countingProcessor
const counts = tableRuntimes(tables).find(({ table }) => table.name === 'counts')!

const atOnce = (work: () => void): Promise<void> => {
  work()
  return Promise.resolve()
}
const check = (store: KeyValueStore): Promise<number> => checkStore(store, tables, atOnce)

/** A store as a task leaves it: rows, index entries, deadlines, sources. */
async function writtenStore(): Promise<KeyValueStore> {
  const driver = new TopologyTestDriver({ processors: [countingProcessor], partitions: 1 })
  await driver.start()
  for (const mode of ['', ':timer', ':delete', '', ':timer']) {
    await driver.pipe(
      'count-me',
      Array.from({ length: 300 }, (_, i) => inputRecord(`key-${i % 250}${mode}`)),
    )
    await driver.advance(100)
  }
  await driver.stop()
  return driver.stores.open('counting-0')
}

const textOf = (prefix: string, key: string): Buffer => Buffer.from(prefix + key)

const damages: Record<string, { found: RegExp; operations(store: KeyValueStore): Promise<WriteOperation[]> }> = {
  'a row is gone': {
    found: /its rows do not have the digest/,
    operations: async () => [{ key: textOf(counts.prefix, 'key-7'), value: null }],
  },
  'a row is another': {
    found: /its rows do not have the digest/,
    operations: async (store) => {
      const value = await store.get(textOf(counts.prefix, 'key-200'))
      return [{ key: textOf(counts.prefix, 'key-7'), value: value ?? null }]
    },
  },
  'a row is there that no fold wrote': {
    found: /its rows do not have the digest/,
    operations: async (store) => {
      const value = await store.get(textOf(counts.prefix, 'key-200'))
      return [{ key: textOf(String.fromCharCode(0x1f), 'key-7'), value: value ?? null }]
    },
  },
  'a row is none of its table': {
    found: /a row of counts cannot be decoded/,
    operations: async () => [{ key: textOf(counts.prefix, 'key-7'), value: Buffer.from([0x80]) }],
  },
  'an index entry is gone': {
    found: /its index entries are not those of its rows/,
    operations: async (store) => {
      const [key] = await keysOf(store, counts.indexes[0]!.prefix)
      return [{ key: key!, value: null }]
    },
  },
  'an index entry names nothing': {
    found: /its index entries are not those of its rows/,
    operations: async () => [
      { key: textOf(counts.indexes[0]!.prefix, '00000001\u0000nobody'), value: Buffer.alloc(0) },
    ],
  },
  'the digest is another': {
    found: /its rows do not have the digest/,
    operations: async (store) => [{ key: commitKeys[1], value: (await store.get(commitKeys[1]))!.fill(0, 0, 64) }],
  },
}

t.test('a store is as it was left', async (t) => {
  const store = await writtenStore()
  t.ok((await check(store)) > 500)
  t.equal(store.openIterators, 0)
})

for (const [what, damage] of Object.entries(damages)) {
  t.test(`${what}: told as STORE_MISMATCH`, async (t) => {
    const store = await writtenStore()
    await store.write(await damage.operations(store))
    await t.rejects(check(store), { code: 'STORE_MISMATCH', message: damage.found })
    t.equal(store.openIterators, 0)
  })
}

t.test('a store that closes meanwhile ends its check', async (t) => {
  const store = await writtenStore()
  let turns = 0
  const closing = checkStore(store, tables, async (work) => {
    work()
    if (++turns === 2) await store.close()
  })
  await t.rejects(closing, { code: 'STORE_CLOSED' })
})

async function keysOf(store: KeyValueStore, prefix: string): Promise<Buffer[]> {
  const keys: Buffer[] = []
  for await (const page of store.entries(prefixRange(prefix))) keys.push(...page.map(([key]) => key))
  return keys
}
