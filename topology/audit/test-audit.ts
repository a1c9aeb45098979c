import type { Test } from 'tap'
import { memoryProvider } from '../../state-stores/memory/provider.js'
import { countingProcessor } from '../counting-processor.js'
import type { LogRecord } from '../log/log.js'
import type { Processor } from '../processor.js'
import { TopologyTestDriver } from '../test-driver.js'
import type { TestDriverOptions } from '../test-driver.js'
import type { Audit } from './audit.js'
import type { JournalReader, JournalSource } from './journal-source.js'

export interface AuditedDriver {
  readonly driver: TopologyTestDriver
  readonly audit: Audit
  /** Values of the input topic: `key:mode`. */
  readonly send: (...values: string[]) => Promise<void>
}

/** An audit of the counting processor's journals in a driver, started; for tests. */
export async function auditedDriver(t: Test, options: Partial<TestDriverOptions> = {}): Promise<AuditedDriver> {
  const driver = new TopologyTestDriver({ processors: [countingProcessor], partitions: 1, ...options })
  await driver.start()
  t.teardown(() => driver.stop())
  return {
    driver,
    audit: auditOf(driver, { reader: driver.log }, options.processors),
    send: (...values) =>
      driver.pipe(
        'count-me',
        values.map((value) => ({ key: null, value: Buffer.from(value) })),
      ),
  }
}

/** Answers without how they were made: from snapshots less is folded. */
export function withoutWork<Answer>(answer: Answer): Answer {
  return JSON.parse(JSON.stringify(answer, (name, value: unknown) => (name === 'folded' ? undefined : value))) as Answer
}

/** The driver's log, in which a topic's records are others than they were written. */
export function forgedReader(
  { log }: Pick<TopologyTestDriver, 'log'>,
  topic: string,
  forge: (records: readonly LogRecord[]) => readonly LogRecord[],
): JournalReader {
  return {
    topic: (name) => log.topic(name),
    offsets: (partition) => log.offsets(partition),
    offsetForTime: (partition, time) => log.offsetForTime(partition, time),
    async read(partition, offset, options) {
      const batch = await log.read(partition, offset, options)
      return partition.topic === topic ? { ...batch, records: forge(batch.records) } : batch
    },
  }
}

/** An audit of what the driver's log holds, or of another source of the same journals. */
export function auditOf(
  driver: TopologyTestDriver,
  source: JournalSource = { reader: driver.log },
  processors: readonly Processor[] = [countingProcessor],
): Audit {
  const stores = memoryProvider()
  let opened = 0
  return { source, applicationId: 'test', processors, openStore: () => stores.open(`store-${++opened}`) }
}
