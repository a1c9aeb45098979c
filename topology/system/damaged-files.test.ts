import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { memoryProvider } from '../../state-stores/memory/provider.js'
import type { MemoryProvider } from '../../state-stores/memory/provider.js'
import { rocksDbProvider } from '../../state-stores/rocksdb/provider.js'
import { countingProcessor } from '../counting-processor.js'
import { TopologyTestDriver } from '../test-driver.js'
import { inputRecord } from './counting-run.js'

const KEYS = 2000
const key = (i: number): string => `device-${i}-${'x'.repeat(100)}`

/** Task stores as files, with tables of rows soon; the log in memory. */
function filesFor(directory: string): MemoryProvider {
  const memory = memoryProvider()
  const files = rocksDbProvider({ directory, writeBufferBytes: 64 * 1024 })
  return {
    ...memory,
    open: (name, options) => (name === 'log' ? memory.open(name) : files.open(name, options)),
    setAside: (name, reason) => files.setAside(name, reason),
  }
}

/** Real files need real time: waits until it holds, while the driver's clock runs. */
async function until(driver: TopologyTestDriver, holds: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + 60_000
  while (!(await holds())) {
    if (performance.now() > giveUpAt) throw new Error('it never holds')
    await driver.clock.advance(1)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const isReady = (driver: TopologyTestDriver) => (): boolean => driver.application.readiness().ready

async function isFolded(driver: TopologyTestDriver): Promise<boolean> {
  const [task] = driver.application.tasks
  const { end } = await driver.log.offsets({ topic: 'test-counting-journal', partition: 0 })
  return task?.state === 'LIVE' && task.offset >= end
}

/** Changes one byte of the largest table. */
function damageTable(location: string, share: number): void {
  const tables = readdirSync(location).filter((file) => file.endsWith('.sst'))
  const [largest] = tables.map((file) => join(location, file)).sort((a, b) => statSync(b).size - statSync(a).size)
  const content = readFileSync(largest!)
  const at = Math.floor(content.length * share)
  content[at] = content[at]! ^ 0xff
  writeFileSync(largest!, content)
}

for (const share of [0.1, 0.2, 0.5]) {
  t.test(`RS-05 a byte at ${share} of the rows' file is damaged: rebuilt, and every row is right`, async (t) => {
    const directory = t.testdir()
    const setAside: string[] = []
    const driver = new TopologyTestDriver({
      processors: [countingProcessor],
      partitions: 1,
      stores: filesFor(directory),
      application: { stateCacheBytes: 0 },
      observer: { onSetAside: (_domain, _partition, reason) => setAside.push(reason) },
    })
    await driver.start({ untilLive: false })
    await until(driver, isReady(driver))
    for (let i = 0; i < KEYS; i += 200) {
      const values = Array.from({ length: 200 }, (_, j) => inputRecord(key(i + j)))
      await driver.log.append('count-me', 0, values)
      await until(driver, () => isFolded(driver))
      await driver.digests()
    }
    await driver.stop()
    damageTable(join(directory, 'counting-0'), share)

    await driver.start({ untilLive: false })
    await until(driver, isReady(driver))
    const query = countingProcessor.queries[0]!
    const count = async (i: number): Promise<unknown> => {
      const answer = await driver.application.query('counting', query, key(i), key(i))
      if (answer.ok) return answer.result
      t.match(answer, { reason: /storeFailed|restoring|stopping/, retryAfterMs: 1000 })
      await until(driver, isReady(driver))
      return count(i)
    }
    const wrong: number[] = []
    for (let i = 0; i < KEYS; i++) if ((await count(i)) !== 1) wrong.push(i)
    t.same(wrong, [])
    t.match(setAside, [/cannot read/])
    await driver.log.append('count-me', 0, [inputRecord(key(0))])
    await until(driver, async () => (await isFolded(driver)) && (await count(0)) === 2)
    await driver.stop()
  })
}
