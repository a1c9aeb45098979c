import { systemClock } from '../../../common/clock.js'
import { ensureError } from '../../../common/errors.js'
import { rocksDbProvider } from '../../../state-stores/rocksdb/provider.js'
import { openEmbeddedLogAt } from './embedded-log.js'

/*
 * Reads the whole of the log in each directory that it is told, and answers it as text, or the code of what it met: RocksDB may end
 * the process over a damaged table.
 */

async function textOfLog(directory: string): Promise<string> {
  const log = await openEmbeddedLogAt(rocksDbProvider({ directory }), 'log', {
    clock: systemClock,
    newIncarnation: () => 'another',
    onCleanError: () => undefined,
  })
  try {
    const lines: string[] = []
    for (const { name: topic, partitions } of await log.topics()) {
      for (let partition = 0; partition < partitions; partition++) {
        const { start, end } = await log.offsets({ topic, partition })
        lines.push(
          `${topic}/${partition} ${start} ${end} ${(await log.committed('readers', { topic, partition }))?.offset}`,
        )
        for (let at = start; at < end;) {
          const { records, next } = await log.read({ topic, partition }, at)
          for (const { offset, timestamp, key, value } of records) {
            lines.push([offset, timestamp, key, value].map(String).join(' '))
          }
          if (next <= at) throw new Error(`nothing is read at ${at} of ${topic}/${partition}`)
          at = next
        }
      }
    }
    return lines.join('\n')
  } finally {
    await log.close()
  }
}

process.on('message', (directory: string) => {
  void textOfLog(directory).then(
    (text) => process.send?.({ text }),
    (thrown: unknown) => {
      const error = ensureError(thrown)
      process.send?.({ code: 'code' in error ? error.code : null, message: error.message })
    },
  )
})
