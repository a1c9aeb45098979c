import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import type { Test } from 'tap'
import type { Clock } from '../../../common/clock.js'
import { seededRandom } from '../../../common/random.js'
import { rocksDbProvider } from '../../../state-stores/rocksdb/provider.js'
import { openEmbeddedLogAt } from './embedded-log.js'

const SEED = 5
const main = fileURLToPath(new URL('./read-damaged.js', import.meta.url))
/** So that a seed gives the same bytes. */
const still: Clock = { now: () => 1.8e12, monotonic: () => 0, setTimer: () => () => undefined }
const spec = { partitions: 3, retentionMs: -1, retentionBytes: -1, timestampType: 'LogAppendTime' } as const

/** A log with a table and a write-ahead log, as a killed process leaves it. */
async function written(directory: string): Promise<void> {
  const log = await openEmbeddedLogAt(rocksDbProvider({ directory, writeBufferBytes: 256 * 1024 }), 'log', {
    clock: still,
    newIncarnation: () => 'one',
    onCleanError: (error) => t.fail(error.message),
  })
  const topics = ['a', 'b'].map((name) => ({ ...spec, name, cleanup: 'delete' as const }))
  await log.createTopics([...topics, { ...spec, name: 'c', cleanup: 'compact' }])
  const random = seededRandom(SEED)
  for (let i = 0; i < 500; i++) {
    const records = Array.from({ length: 1 + Math.floor(random() * 20) }, (_, n) => ({
      key: Buffer.from(`key-${i}-${n}`),
      value: Buffer.from(`${random()}`.repeat(1 + Math.floor(random() * 10))),
      headers: [],
    }))
    await log.append('abc'.charAt(i % 3), Math.floor(random() * 3), records)
  }
  await log.close()
}

type Answer =
  { readonly text: string } | { readonly code: string | null; readonly message: string } | { readonly signal: string }

/** Reads logs in a process of its own, another one when that has ended. */
function reader(t: Test): (directory: string) => Promise<Answer> {
  let child: ChildProcess | undefined
  t.teardown(() => child?.kill())
  return async (directory) => {
    const running = (child ??= fork(main, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] }))
    const ended = new AbortController()
    const { signal } = ended
    const answered = once(running, 'message', { signal }).then(([answer]) => answer as Answer)
    const exited = once(running, 'exit', { signal }).then(([status, by]) => {
      child = undefined
      return { signal: String(by ?? status) }
    })
    running.send(directory)
    const answer = await Promise.race([answered, exited])
    ended.abort()
    await Promise.allSettled([answered, exited])
    return answer
  }
}

for (const [what, isDamaged, flips] of [
  ['table', /\.sst$/, 120],
  ['write-ahead log', /\.log$/, 40],
  ['MANIFEST or CURRENT', /^(MANIFEST-\d+|CURRENT)$/, 40],
] as const) {
  t.test(
    `a flipped bit anywhere in a ${what} is refused by name, and nothing is wrong or missing (seed ${SEED})`,
    async (t) => {
      const directory = t.testdir()
      const [original, copy] = [join(directory, 'original'), join(directory, 'copy')]
      await written(original)
      const read = reader(t)
      const copied = (): void => {
        rmSync(copy, { recursive: true, force: true })
        cpSync(original, copy, { recursive: true })
      }
      copied()
      const intact = await read(copy)
      t.ok('text' in intact && intact.text.length > 100_000)
      const files = readdirSync(join(original, 'log')).filter((name) => isDamaged.test(name))
      const contents = files.map((name) => [name, readFileSync(join(original, 'log', name))] as const)
      const random = seededRandom(SEED)
      let refused = 0
      for (let flip = 0; flip < flips; flip++) {
        copied()
        // Of the last write nothing tells a torn one from a damaged one.
        const [name, content] = contents[flip % contents.length]!
        const bytes = Buffer.from(content)
        const at = Math.floor(random() * (bytes.length - (what === 'write-ahead log' ? 16_384 : 0)))
        const mask = 1 << Math.floor(random() * 8)
        bytes[at]! ^= mask
        writeFileSync(join(copy, 'log', name), bytes)
        const answer = await read(copy)
        if ('text' in answer) t.ok('text' in intact && answer.text === intact.text, `byte ${at} of ${name} by ${mask}`)
        else if ('code' in answer)
          t.equal(answer.code, 'LOG_DAMAGED', `${answer.message}: byte ${at} of ${name} by ${mask}`)
        else t.match(answer.signal, /^SIG(ABRT|SEGV|BUS)$/)
        if ('code' in answer) refused++
      }
      t.comment(`${refused} of ${flips} are refused`)
      t.ok(refused > flips / (what === 'MANIFEST or CURRENT' ? 20 : 2), `${refused} are refused`)
    },
  )
}
