import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import type { Test } from 'tap'
import { systemClock } from '../../../common/clock.js'
import { rocksDbProvider } from '../../../state-stores/rocksdb/provider.js'
import { openEmbeddedLogAt } from './embedded-log.js'
import type { EmbeddedLog } from './embedded-log.js'

interface Acknowledged {
  readonly partition: number
  readonly baseOffset: number
  readonly timestamp: number
  readonly name: string
  readonly count: number
}

const topic = 'killed'
const partitions = 3
const rounds = 4
const child = fileURLToPath(new URL('./append-until-killed.js', import.meta.url))

const openAt = (directory: string): Promise<EmbeddedLog> =>
  openEmbeddedLogAt(rocksDbProvider({ directory }), 'log', {
    clock: systemClock,
    newIncarnation: () => 'parent',
    onCleanError: (error) => t.fail(error.message),
  })

/** Runs the child until it acknowledged `enough` appends, kills it, and answers all acknowledgements that came out. */
async function appendAndKill(t: Test, directory: string, round: number, enough: number): Promise<Acknowledged[]> {
  const running = spawn(process.execPath, [child, directory, topic, `${partitions}`, `${round}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(running, 'exit')
  const acknowledged: Acknowledged[] = []
  for await (const line of createInterface({ input: running.stdout })) {
    // The last line may be cut off.
    if (!line.endsWith('}')) continue
    acknowledged.push(JSON.parse(line) as Acknowledged)
    if (acknowledged.length === 10) {
      await t.rejects(openAt(directory), { code: 'LOG_DIRECTORY_IN_USE' }, 'the directory has its process')
    }
    if (acknowledged.length === enough) running.kill('SIGKILL')
  }
  t.same(await exited, [null, 'SIGKILL'])
  return acknowledged
}

t.test('what was acknowledged is there after kill -9 at any moment', { timeout: 120_000 }, async (t) => {
  const directory = t.testdir()
  const acknowledged: Acknowledged[] = []
  for (let round = 0; round < rounds; round++) {
    acknowledged.push(...(await appendAndKill(t, directory, round, 150 + 217 * round)))
    const log = await openAt(directory)
    const values = new Map<string, string>()
    for (let partition = 0; partition < partitions; partition++) {
      const { start, end } = await log.offsets({ topic, partition })
      let expected = start
      for (let next = start; next < end;) {
        const batch = await log.read({ topic, partition }, next)
        for (const { offset, value, timestamp } of batch.records) {
          if (offset !== expected++) t.fail(`offset ${offset} of partition ${partition} follows ${expected - 2}`)
          values.set(`${partition} ${offset}`, `${value?.toString()} at ${timestamp}`)
        }
        next = batch.next
      }
      t.equal(expected, end, `partition ${partition} has no hole`)
    }
    const lost = acknowledged.flatMap(({ partition, baseOffset, timestamp, name, count }) =>
      Array.from({ length: count }, (_, i) => i).filter(
        (i) => values.get(`${partition} ${baseOffset + i}`) !== `${name}/${i} at ${timestamp}`,
      ),
    )
    t.same(lost, [], `round ${round}: ${acknowledged.length} acknowledged appends, ${values.size} records`)
    await log.close()
  }
})
