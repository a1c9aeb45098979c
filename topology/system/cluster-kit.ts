import type { Test } from 'tap'
import { countingProcessor } from '../counting-processor.js'
import { CHANGELOG, inputRecord, modelsOf } from './counting-run.js'
import { logOf, TestCluster } from './test-cluster.js'
import type { TestInstance } from './test-cluster.js'

export const keys = Array.from({ length: 40 }, (_, i) => `key-${i}`)

export async function opened(
  t: Test,
  options: { partitions?: number; standbyReplicas?: number } = {},
): Promise<TestCluster> {
  const cluster = new TestCluster({ processors: [countingProcessor], ...options })
  await cluster.open()
  t.teardown(() => cluster.close())
  return cluster
}

/** Every key once, over all input partitions. */
export async function pipeAll(cluster: TestCluster, mode = ''): Promise<void> {
  for (let partition = 0; partition < cluster.partitions; partition++) {
    const own = keys.filter((_, i) => i % cluster.partitions === partition)
    await cluster.pipe(
      'count-me',
      own.map((key) => inputRecord(mode === '' ? key : `${key}:${mode}`)),
      partition,
    )
  }
}

/** Owners hold what the journals say; standbys hold what their owners hold, to the row. */
export async function check(t: Test, cluster: TestCluster, instances: readonly TestInstance[]): Promise<void> {
  await cluster.advance(2000)
  const models = await modelsOf(cluster)
  t.same(await cluster.digests(), Object.fromEntries(models.map(({ digest }, i) => [`counting/${i}`, digest])))
  await cluster.advance(1000)
  for (const standby of instances.flatMap(({ application }) => application.standbys)) {
    const owner = cluster.owners().find(({ partition }) => partition === standby.partition)
    t.same(
      await TestCluster.rowsOf(standby.rows.store),
      owner && (await TestCluster.rowsOf(owner.rows.store)),
      `standby of ${standby.partition}`,
    )
    t.equal(standby.digest.rows.toHex(), models[standby.partition]?.digest)
  }
}

/** Reads of the changelog wait until they are let through, one at a time and a few records each. */
export function slowChangelog(cluster: TestCluster): { next(): Promise<void>; all(): void } {
  let waiting: (() => void)[] = []
  let isOpen = false
  cluster.wrapLog = (_name, log) => ({
    ...logOf(log),
    read: async (at, offset, options) => {
      if (at.topic !== CHANGELOG || isOpen) return log.read(at, offset, options)
      await new Promise<void>((resolve) => waiting.push(resolve))
      return log.read(at, offset, { ...options, maxRecords: 10 })
    },
  })
  return {
    next: async () => {
      for (const go of waiting.splice(0)) go()
      await cluster.advance(500)
    },
    all: () => {
      isOpen = true
      for (const go of waiting) go()
      waiting = []
    },
  }
}
