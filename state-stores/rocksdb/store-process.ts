/** A process with a store, for the tests of what happens between processes: `store-process.js MODE DIRECTORY`. */
import { rocksDbProvider } from './provider.js'
import { rowName } from './rows.js'
import { once } from 'node:events'
import { bytes, collect, put, readNames } from '../store-contract.js'
import type { KeyValueStore } from '../key-value-store.js'
import { StoreError } from '../errors.js'

const [mode, directory = ''] = process.argv.slice(2)
const provider = rocksDbProvider({ directory })

/** Writes a key after the other, says each number once its write was acknowledged, and goes on until it is killed. */
async function write(): Promise<void> {
  const store = await provider.open('store')
  for (let i = 0; ; i++) {
    await store.write([put(rowName(i), 'value'), put('position', String(i))])
    process.stdout.write(`${i}\n`)
  }
}

/** Calls everything in every order while the store is closed and opened again. */
async function race(): Promise<void> {
  let refused = 0
  let answered = 0
  const count = (work: Promise<unknown>): Promise<void> =>
    work.then(
      () => {
        answered++
      },
      (error: unknown) => {
        if (!(error instanceof StoreError) || error.code !== 'STORE_CLOSED') throw error
        refused++
      },
    )
  const calls: ((store: KeyValueStore, i: number) => Promise<unknown>)[] = [
    (store, i) => store.get(bytes(`k${i % 900}`)),
    (store, i) => store.getMany([bytes(`k${i % 900}`), bytes('absent')]),
    (store, i) => store.write([put(`k${i % 900}`, 'v'.repeat(i % 300))], { sync: i % 40 === 0 }),
    (store) => collect(store.entries({ reverse: true })),
    (store) => collect(store.texts({ limit: 20 })),
    (store) => store.entries()[Symbol.asyncIterator]().next(),
    (store, i) => store.clear({ gte: bytes(`k${i % 900}`), limit: 2 }),
    (store) => store.close(),
  ]
  for (let cycle = 0; cycle < 50; cycle++) {
    const store = await provider.open('store')
    await store.write(Array.from({ length: 1500 }, (_, i) => put(`k${i}`, 'value')))
    const work: Promise<void>[] = []
    for (let i = 0; i < 100; i++) {
      // The last call, close, comes once in the middle of each cycle, at another place each time.
      const last = i === 40 + cycle ? calls.length - 1 : i % (calls.length - 1)
      const call = calls[last]
      if (call !== undefined) work.push(count(call(store, i + cycle)))
      if (i % 10 === cycle % 10) await new Promise((resolve) => setImmediate(resolve))
    }
    await Promise.all(work)
    await store.close()
    await Promise.all(calls.map((call) => count(call(store, cycle))))
  }
  process.stdout.write(`${answered} answered, ${refused} refused\n`)
}

/** Writes until the disk refuses, waits for a line of input, and says what happens then, and after opening anew. */
async function fill(): Promise<void> {
  let store = await provider.open('store')
  const writeRow = (i: number): Promise<string | undefined> =>
    store.write([put(rowName(i), 'v'.repeat(500)), put('position', String(i))]).then(
      () => undefined,
      (error: unknown) => (error instanceof StoreError ? error.code : String(error)),
    )
  let written = 0
  let first: string | undefined
  while (first === undefined) {
    first = await writeRow(written)
    if (first === undefined) written++
  }
  const read = (await store.get(bytes(rowName(0)))) !== undefined
  process.stdout.write('refused\n')
  await once(process.stdin, 'data')
  const afterwards = await writeRow(written + 1)
  await store.close()

  store = await provider.open('store')
  const rows = (await readNames(store, { gte: bytes('k'), lt: bytes('l') })).length
  const reopened = (await writeRow(rows)) ?? 'written'
  await store.close()
  process.stdout.write(JSON.stringify({ written, first, read, afterwards, rows, reopened }) + '\n')
  process.stdin.destroy()
}

const modes: Record<string, () => Promise<void>> = { write, race, fill }
await modes[mode ?? '']?.()
