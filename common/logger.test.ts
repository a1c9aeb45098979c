import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { createLogger, silentLogger } from './logger.js'
import { loadSettings } from './settings.js'

/** What the statements log, as objects. */
function logged(
  t: Test,
  level: Parameters<typeof createLogger>[0],
  write: (logger: ReturnType<typeof createLogger>) => void,
) {
  const path = join(t.testdir({}), 'log')
  const fd = openSync(path, 'w')
  write(createLogger(level, fd))
  closeSync(fd)
  const text = readFileSync(path, 'utf8')
  t.ok(text === '' || text.endsWith('\n'))
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

t.test('a line is one JSON object with time and level, and says only what was said', async (t) => {
  const [line, ...others] = logged(t, 'info', (logger) => logger.info({ partition: 3 }, 'task running'))
  t.same(others, [])
  t.match(line, { level: 'info', time: /^\d{4}-\d\d-\d\dT.*Z$/, partition: 3, msg: 'task running' })
  t.same(Object.keys(line!).sort(), ['level', 'msg', 'partition', 'time'])
})

t.test('the level is kept, in children too', async (t) => {
  const lines = logged(t, 'warn', (logger) => {
    logger.info('no')
    logger.child({ task: 1 }).warn('yes')
    logger.child({ task: 1 }).debug('no')
  })
  t.match(lines, [{ msg: 'yes', task: 1 }])
  t.same(
    logged(t, 'silent', (logger) => logger.fatal('no')),
    [],
  )
  t.doesNotThrow(() => silentLogger().fatal('no'))
})

t.test('an id with line breaks forges no second line', async (t) => {
  const id = 'ch-1\n{"level":"fatal"}\u2028\u0000'
  t.match(
    logged(t, 'info', (logger) => logger.info({ cmHandle: id }, 'registered')),
    [{ cmHandle: id }],
  )
})

t.test('an error shows code, action, details and causes', async (t) => {
  const [line] = logged(t, 'info', (logger) => {
    try {
      loadSettings({ flags: ['--http-port', 'x'] })
    } catch (error) {
      logger.error({ err: new Error('outer', { cause: error }) }, 'cannot start')
    }
    logger.error({ err: { a: 1 } })
  })
  t.match(line, {
    err: {
      type: 'Error',
      message: 'outer',
      cause: {
        type: 'SettingsError',
        code: 'SETTINGS_INVALID',
        action: /Correct/,
        details: { faults: [{ path: '--http-port' }] },
      },
    },
  })
})

t.test('a request shows neither credentials nor endless texts', async (t) => {
  const req = {
    method: 'GET',
    url: '/' + 'x'.repeat(10_000),
    ip: '127.0.0.1',
    headers: { authorization: 'Basic aHVzaA==', 'user-agent': 'y'.repeat(10_000) },
  }
  const [line] = logged(t, 'info', (logger) => logger.info({ req, res: { statusCode: 200, headers: {} } }))
  const text = JSON.stringify(line)
  t.match(line, { req: { method: 'GET', ip: '127.0.0.1' }, res: { statusCode: 200 } })
  t.ok(text.length < 700)
  t.notMatch(text, /aHVzaA/)
})

const endings = [
  { name: 'process.exit', code: `process.exit(3)`, status: 3 },
  { name: 'an uncaught error', code: `throw new Error('boo')`, status: 1 },
  { name: 'a signal to itself', code: `process.kill(process.pid, 'SIGKILL'); for (;;);`, status: null },
]
for (const { name, code, status } of endings) {
  for (const target of ['file', 'pipe'] as const) {
    t.test(`SH-06 the last line before ${name} is in the log on a ${target}`, async (t) => {
      const module = JSON.stringify(new URL('logger.js', import.meta.url).href)
      const lines = 4_000
      const folder = t.testdir({
        'main.mjs': `import { createLogger } from ${module}
          const logger = createLogger('info')
          for (let n = 0; n < ${lines}; n += 1) logger.info({ n }, 'work ' + 'x'.repeat(50))
          logger.fatal('the reason')
          ${code}`,
      })
      const path = join(folder, 'log')
      const fd = openSync(path, 'w')
      const child = spawn(process.execPath, [join(folder, 'main.mjs')], {
        stdio: ['ignore', 'ignore', target === 'file' ? fd : 'pipe'],
      })
      let piped = ''
      child.stderr?.on('data', (chunk: Buffer) => (piped += chunk.toString()))
      const exit = await new Promise((resolve) => child.on('close', resolve))
      closeSync(fd)
      const text = target === 'file' ? readFileSync(path, 'utf8') : piped
      const written = text.split('\n').filter((line) => line.startsWith('{'))
      t.equal(exit, status)
      t.equal(written.length, lines + 1)
      t.match(JSON.parse(written.at(-1)!), { level: 'fatal', msg: 'the reason' })
    })
  }
}
