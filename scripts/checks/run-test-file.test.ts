import { join } from 'node:path'
import t from 'tap'
import { runTestFile } from './run-test-file.js'

const cases = [
  { name: 'passes', source: `t.test('a', async (t) => { t.ok(1); t.ok(2) })`, passed: 2, failures: [] },
  {
    name: 'fails',
    source: `t.test('a', async (t) => { t.ok(1); t.equal(1, 2) })`,
    passed: 1,
    failures: ['should be equal'],
  },
  { name: 'throws', source: `t.test('a', async () => { throw new Error('boo') })`, passed: 0, failures: ['boo'] },
  { name: 'dies while loading', source: `throw new Error('boo')`, passed: 0, failures: ['ended with exit code 1'] },
  { name: 'asserts nothing', source: `process.exit(0)`, passed: 0, failures: ['contains no assertion'] },
  {
    name: 'crashes',
    source: `process.kill(process.pid, 'SIGSEGV')`,
    passed: 0,
    failures: ['ended with signal SIGSEGV'],
  },
]

for (const { name, source, passed, failures } of cases) {
  t.test(`a file that ${name}`, async (t) => {
    const folder = t.testdir({ 'x.js': `import t from 'tap'\n${source}\n` })
    const result = await runTestFile(join(folder, 'x.js'), { cwd: folder, timeoutMs: 60_000 })
    t.equal(result.passed, passed)
    t.same(
      result.failures.map((failure) => failure.name.split(' > ').at(-1)),
      failures,
    )
    t.equal(result.failed, failures.length)
  })
}

t.test('a file that hangs without minding signals is killed, and what it started too', async (t) => {
  const source = [
    `import t from 'tap'`,
    `import { spawn } from 'node:child_process'`,
    `process.on('SIGTERM', () => {})`,
    `spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' })`,
    `t.test('a', async (t) => { t.ok(1); for (;;); })`,
  ].join('\n')
  const folder = t.testdir({ 'x.js': source })
  // It holds the output open, so an end of this at all shows that it is gone.
  const result = await runTestFile(join(folder, 'x.js'), { cwd: folder, timeoutMs: 3_000 })
  t.equal(result.passed, 1)
  t.equal(result.failures.at(-1)?.name, 'killed, as it still ran after 3000 ms')
})

t.test('an abort ends the file', async (t) => {
  const folder = t.testdir({ 'x.js': 'setInterval(() => {}, 1000)' })
  const stop = new AbortController()
  const running = runTestFile(join(folder, 'x.js'), { cwd: folder, timeoutMs: 60_000, signal: stop.signal })
  stop.abort()
  t.equal((await running).failures.at(-1)?.name, 'ended with signal SIGKILL')
})
