import type { Log } from '../../topology/log/log.js'

const RETENTION_MS = 60_000

/** Appends a record to a topic of its own, made when it is missing; resolves when the log has it. (two sites, decision 38) */
export function logProbe(log: Pick<Log, 'createTopics' | 'append'>, name: string): () => Promise<unknown> {
  let isThere = false
  return async () => {
    if (!isThere) {
      await log.createTopics([
        {
          name,
          partitions: 1,
          cleanup: 'delete',
          retentionMs: RETENTION_MS,
          retentionBytes: -1,
          timestampType: 'LogAppendTime',
        },
      ])
      isThere = true
    }
    return log.append(name, 0, [{ key: null, value: Buffer.from('probe') }])
  }
}
