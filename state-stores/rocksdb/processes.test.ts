import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import type { Test } from 'tap'
import { bytes, readNames } from '../store-contract.js'
import { rocksDbProvider } from './provider.js'
import { checkRows, rowName } from './rows.js'

const processFile = fileURLToPath(new URL('store-process.js', import.meta.url))

t.test('RS-09 a directory that another process has open is refused, and that one goes on', async (t) => {
  const directory = t.testdir()
  const provider = rocksDbProvider({ directory })
  const writer = startStore(t, 'write', directory)
  await writer.line()
  const location = join(directory, 'store')
  await t.rejects(provider.open('store'), { code: 'STORE_IN_USE', details: { location } })
  rmSync(join(location, 'CURRENT'))
  await t.rejects(provider.open('store'), { code: 'STORE_IN_USE' }, 'in use comes before damage')
  const position = Number(await writer.line())
  t.ok(Number(await writer.line()) > position, 'the first still writes')
})

t.test('RS-09 after kill -9 the store opens with its LOCK file there, and holds what was acknowledged', async (t) => {
  const directory = t.testdir()
  const lock = join(directory, 'store', 'LOCK')
  let acknowledged = -1
  for (let round = 0; round < 3; round++) {
    const writer = startStore(t, 'write', directory)
    for (let i = 0; i < 200; i++) acknowledged = Number(await writer.line())
    const { ino } = statSync(lock)
    writer.child.kill('SIGKILL')
    await once(writer.child, 'exit')
    t.equal(statSync(lock).ino, ino, 'the LOCK file is there')

    const store = await rocksDbProvider({ directory }).open('store')
    t.equal(statSync(lock).ino, ino, 'and was not made anew')
    const rows = await readNames(store, { gte: bytes(rowName(acknowledged)) })
    t.equal(rows[0], rowName(acknowledged))
    await store.close()
  }
})

const skip = spawnSync('prlimit', ['--version']).status === 0 ? false : 'needs prlimit'

t.test('RS-11 a disk that refuses a write gets none after it, until the store is opened anew', { skip }, async (t) => {
  const directory = t.testdir()
  // A limit on the size of files stands for the full disk; lifting it, for the space made free.
  const command = ['-c', 'ulimit -S -f 200 && exec "$0" "$@"', process.execPath, processFile, 'fill', directory]
  const filler = startProcess(t, 'bash', command)
  t.equal(await filler.line(), 'refused')
  spawnSync('prlimit', ['--pid', String(filler.child.pid), '--fsize=unlimited'])
  filler.child.stdin?.write('go on\n')
  const { written, rows, ...seen } = JSON.parse(await filler.line()) as Record<string, unknown> & Record<string, number>
  t.same(seen, { first: 'STORE_WRITE_FAILED', read: true, afterwards: 'STORE_WRITE_FAILED', reopened: 'written' })
  t.ok(rows === written || rows === Number(written) + 1, 'the refused batch may be there, or not')

  const store = await rocksDbProvider({ directory }).open('store')
  t.equal(await checkRows(t, store), Number(rows) + 1)
  await store.close()
})

t.test('SH-03 calls that race with close and open are answered or refused, and never end the process', async (t) => {
  const race = startStore(t, 'race', t.testdir())
  const [code, signal] = (await once(race.child, 'exit')) as [number | null, string | null]
  t.same({ code, signal }, { code: 0, signal: null })
  t.match(await race.line(), /^[1-9]\d* answered, [1-9]\d* refused$/)
})

interface Process {
  readonly child: ChildProcess
  /** The next line of its output; empty behind the last. */
  line(): Promise<string>
}

function startStore(t: Test, mode: string, directory: string): Process {
  return startProcess(t, process.execPath, [processFile, mode, directory])
}

/** Starts a process that is killed at the end of the test. */
function startProcess(t: Test, command: string, parameters: string[]): Process {
  const child = spawn(command, parameters, { stdio: ['pipe', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    child,
    async line() {
      const { value } = (await lines.next()) as { value: string | undefined }
      return value ?? ''
    },
  }
}
