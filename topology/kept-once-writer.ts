import type { GroupMember, Log, TopicPartition } from './log/log.js'
import { names } from './names.js'
import type { TaskEnvironment } from './task/environment.js'

/**
 * The group keeps by which writer a task's outputs declared `once` go, with its journal's position: whoever has the task next finds
 * it there without reading the changelog, of which nothing can be read that lies behind an open transaction.
 */
export function keptOnceWriter(
  log: Pick<Log, 'committed' | 'writer'>,
  applicationId: string,
  member: () => GroupMember | undefined,
  journal: TopicPartition,
): Pick<TaskEnvironment, 'keepOnceWriter' | 'fenceOnceWriter'> {
  return {
    async keepOnceWriter(id, offset) {
      await member()?.commit(journal, { offset, metadata: id })
    },
    async fenceOnceWriter() {
      const { metadata: id = '' } = (await log.committed(applicationId, journal)) ?? {}
      if (id.startsWith(names.onceWriter(applicationId, ''))) await (await log.writer(id)).close()
    },
  }
}
