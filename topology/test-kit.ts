import type { Log, LogRecord } from './log/log.js'

/** Turns of the event loop without a change after which nothing is under way. */
const QUIET_TURNS = 6
const MAX_TURNS = 200_000

/** For tests: resolves when nothing moves any more, as what `look` tells stays the same. */
export async function settled(look: () => unknown): Promise<void> {
  let quiet = 0
  let before: unknown
  for (let turns = 0; turns < MAX_TURNS && quiet < QUIET_TURNS; turns++) {
    await turn()
    const now = await look()
    quiet = now === before ? quiet + 1 : 0
    before = now
  }
}

/** A turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** All records of a topic, by partition and offset; none of one that is not there. */
export async function recordsOf(log: Log, topic: string): Promise<(LogRecord & { readonly partition: number })[]> {
  const description = await log.topic(topic)
  const records: (LogRecord & { readonly partition: number })[] = []
  for (let partition = 0; partition < (description?.partitions ?? 0); partition++) {
    const { start, end } = await log.offsets({ topic, partition })
    for (let offset = start; offset < end;) {
      const batch = await log.read({ topic, partition }, offset)
      records.push(...batch.records.map((record) => ({ ...record, partition })))
      offset = batch.next
    }
  }
  return records
}

/** For tests: rejections that nobody hears until the test's end, which would end the process. */
export function unheardRejections(t: { teardown(close: () => void): void }): readonly unknown[] {
  const unheard: unknown[] = []
  const onUnheard = (reason: unknown): void => void unheard.push(reason)
  process.on('unhandledRejection', onUnheard)
  t.teardown(() => void process.off('unhandledRejection', onUnheard))
  return unheard
}
