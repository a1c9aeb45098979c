import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { memoryProvider } from '../../state-stores/memory/provider.js'
import type { MemoryProvider } from '../../state-stores/memory/provider.js'
import { rocksDbProvider } from '../../state-stores/rocksdb/provider.js'
import { totals } from '../counting-processor.js'
import type { TopologyTestDriver } from '../test-driver.js'
import { inputRecord } from './counting-run.js'

/** Task stores as files, with tables of rows soon; the log in memory. */
export function filesFor(directory: string): MemoryProvider {
  const memory = memoryProvider()
  const files = rocksDbProvider({ directory, writeBufferBytes: 64 * 1024 })
  return {
    ...memory,
    open: (name, options) => (name === 'log' ? memory.open(name) : files.open(name, options)),
    setAside: (name, reason) => files.setAside(name, reason),
  }
}

/** Real files need real time: waits until it holds, while the driver's clock runs. */
export async function until(driver: TopologyTestDriver, holds: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + 60_000
  while (!(await holds())) {
    if (performance.now() > giveUpAt) throw new Error('it never holds')
    await driver.clock.advance(1)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

export const isReady = (driver: TopologyTestDriver) => (): boolean => driver.application.readiness().ready

function totalOf(driver: TopologyTestDriver): number {
  const resident = driver.application.tasks[0]?.rows.state(totals).resident
  return (resident?.get('all') as { total: number } | undefined)?.total ?? 0
}

/** Whether the counting domain's only partition has folded its journal. */
export async function isFolded(driver: TopologyTestDriver): Promise<boolean> {
  const [task] = driver.application.tasks
  const { end } = await driver.log.offsets({ topic: 'test-counting-journal', partition: 0 })
  return task?.state === 'LIVE' && task.offset >= end
}

/** Counts keys by portions, each in the store before the next: so its rows are in many tables. */
export async function fill(driver: TopologyTestDriver, keys: readonly string[]): Promise<void> {
  for (let i = 0; i < keys.length; i += 200) {
    const portion = keys.slice(i, i + 200)
    await driver.log.append('count-me', 0, portion.map(inputRecord))
    await until(driver, () => totalOf(driver) === i + portion.length)
    await driver.digests()
  }
}

/** A store's tables. */
export function tablesOf(location: string): { readonly path: string; readonly bytes: number }[] {
  const tables = readdirSync(location).filter((file) => file.endsWith('.sst'))
  return tables.map((file) => ({ path: join(location, file), bytes: statSync(join(location, file)).size }))
}

/** Changes one byte of a file by `mask`. */
export function flip(path: string, at: number, mask = 0xff): void {
  const content = readFileSync(path)
  content[at] = (content[at] ?? 0) ^ mask
  writeFileSync(path, content)
}
