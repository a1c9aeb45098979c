import { createHash } from 'node:crypto'
import type { Log } from '../../topology/log/log.js'
import type { Driven } from '../../topology/system/counting-run.js'

/** Hash of all that stands in a log, and of what else happened: equal for equal runs. */
export async function traceOf(
  driver: Pick<Driven, 'read'> & { readonly log: Pick<Log, 'topics'> },
  happened: readonly string[],
): Promise<string> {
  const hash = createHash('sha256')
  for (const { name } of await driver.log.topics()) {
    for (const { partition, offset, timestamp, key, value, headers } of await driver.read(name)) {
      const texts = headers.map(([header, bytes]) => `${header}=${bytes.toString('hex')}`)
      const line = [name, partition, offset, timestamp, key?.toString('hex'), value?.toString('hex'), ...texts]
      hash.update(`${line.join()}\n`)
    }
  }
  for (const line of happened) hash.update(`${line}\n`)
  return hash.digest('hex').slice(0, 16)
}
