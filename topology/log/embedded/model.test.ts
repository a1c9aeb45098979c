import { deepStrictEqual, ok } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { manualClock } from '../../../common/manual-clock.js'
import { StoreError } from '../../../state-stores/errors.js'
import type { StoreProvider } from '../../../state-stores/key-value-store.js'
import { memoryProvider } from '../../../state-stores/memory/provider.js'
import { createTopic, readAll, record } from '../contract/harness.js'
import type { LogRecord, NewRecord } from '../log.js'
import { openEmbeddedLogAt } from './embedded-log.js'
import type { EmbeddedLog } from './embedded-log.js'

/*
 * Whatever happens to the log, readers see what was acknowledged, at its offset, and nothing else: a plain list of it is
 * the model. Of a compacted topic they see the last record of each key, and of the others some. Only a log opened anew may
 * bring up a rejected append whose write took effect after all; from then on it counts as acknowledged.
 */
/** A write may fail before it took effect, or after. */
type Fails = 'never' | 'before' | 'after'

type Step =
  | { readonly kind: 'append'; readonly topic: string; readonly keys: readonly string[]; readonly fails: Fails }
  | { readonly kind: 'deleteBefore'; readonly share: number }
  | { readonly kind: 'reopen' | 'crash' | 'losePower' | 'clean' }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      topic: fc.constantFrom('deleted', 'compacted'),
      keys: fc.array(fc.constantFrom('a', 'b', 'c', 'd', '__proto__'), { minLength: 1, maxLength: 6 }),
      fails: fc.constantFrom<Fails>('never', 'never', 'never', 'before', 'after'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('deleteBefore' as const),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('reopen' as const, 'crash' as const, 'losePower' as const, 'clean' as const),
    }),
  },
)

const settings = fc.record({
  cacheBytes: fc.constantFrom(0, 600, 1_000_000),
  compactionKeys: fc.constantFrom(1, 2, 100),
})

async function run(steps: readonly Step[], options: { cacheBytes: number; compactionKeys: number }): Promise<void> {
  const inner = memoryProvider()
  let fails: Fails = 'never'
  const stores: StoreProvider = {
    setAside: (name, reason) => inner.setAside(name, reason),
    async open(name) {
      const store = await inner.open(name)
      return {
        ...store,
        async write(operations, how) {
          if (fails !== 'before') await store.write(operations, how)
          if (fails !== 'never') throw new StoreError('STORE_WRITE_FAILED', 'no space left on device')
        },
      }
    },
  }
  const clock = manualClock()
  const open = (): Promise<EmbeddedLog> =>
    openEmbeddedLogAt(stores, 'log', {
      clock,
      newIncarnation: () => 'one',
      onCleanError: (error) => t.fail(error.message),
      ...options,
    })
  let log = await open()
  const acknowledged = new Map<string, LogRecord[]>([
    ['deleted', []],
    ['compacted', []],
  ])
  await createTopic(log, { name: 'deleted' })
  await createTopic(log, { name: 'compacted', cleanup: 'compact' })
  let start = 0
  let lastBase = 0
  for (const [i, step] of steps.entries()) {
    if (step.kind === 'append') {
      const records = step.keys.map((key, n): NewRecord => record(key, `${i}/${n}`))
      fails = step.fails
      const appended = await log.append(step.topic, 0, records).catch(() => undefined)
      fails = 'never'
      deepStrictEqual(appended !== undefined, step.fails === 'never')
      if (appended !== undefined) {
        if (step.topic === 'compacted') lastBase = appended.baseOffset
        for (const [n, { key, value }] of records.entries()) {
          const { baseOffset, timestamp } = appended
          acknowledged.get(step.topic)?.push({ offset: baseOffset + n, timestamp, key, value, headers: [] })
        }
      }
    } else if (step.kind === 'deleteBefore') {
      start = Math.max(start, Math.floor(step.share * (acknowledged.get('deleted')?.length ?? 0)))
      await log.deleteBefore({ topic: 'deleted', partition: 0 }, start)
    } else if (step.kind === 'clean') {
      await log.clean()
    } else {
      if (step.kind === 'reopen') await log.close()
      else inner[step.kind]('log')
      log = await open()
      for (const [topic, records] of acknowledged) {
        const { end } = await log.offsets({ topic, partition: 0 })
        if (end === records.length) continue
        if (topic === 'compacted') lastBase = records.length
        records.push(...(await readAll(log, { topic, partition: 0 }, records.length)))
        deepStrictEqual(end, records.length)
      }
    }

    const deleted = { topic: 'deleted', partition: 0 }
    const all = acknowledged.get('deleted') ?? []
    deepStrictEqual(await log.offsets(deleted), { start, end: all.length })
    deepStrictEqual(await readAll(log, deleted), all.slice(start))

    const compacted = { topic: 'compacted', partition: 0 }
    const sent = acknowledged.get('compacted') ?? []
    const seen = await readAll(log, compacted)
    const last = new Map(sent.map(({ key, offset }) => [key?.toString(), offset]))
    const seenOffsets = new Set(seen.map(({ offset }) => offset))
    deepStrictEqual(await log.offsets(compacted), { start: 0, end: sent.length })
    deepStrictEqual(
      seen,
      sent.filter(({ offset }) => seenOffsets.has(offset)),
    )
    for (const offset of last.values()) ok(seenOffsets.has(offset), `the last record of a key, at ${offset}`)
    if (step.kind !== 'clean') continue
    for (const { key, offset } of seen) ok(offset >= lastBase || last.get(key?.toString()) === offset)
  }
  await log.close()
}

t.test('readers see what was acknowledged, whatever happens to the log', async (t) => {
  const property = fc.asyncProperty(fc.array(step, { maxLength: 40 }), settings, run)
  // A counterexample is printed with its seed.
  await t.resolves(fc.assert(property, { seed: 20_260_101, numRuns: 150 }))
})
