import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'

/** A process whose service is an HTTP server; `stop` and what happens when ready are given as code. */
function start(
  t: Test,
  flags: readonly string[],
  options: { stop?: string; whenReady?: string; log?: 'file' | 'pipe' } = {},
) {
  const module = JSON.stringify(new URL('start.js', import.meta.url).href)
  const folder = t.testdir({
    'main.mjs': `
      import { createServer } from 'node:http'
      import { once } from 'node:events'
      import { runStart } from ${module}
      runStart(process.argv.slice(2), async (settings, logger, fail) => {
        const server = createServer((request, answer) => answer.end('here', () => console.log('answered')))
        server.listen(settings.httpPort, settings.httpHost)
        await once(server, 'listening')
        setImmediate(() => { ${options.whenReady ?? ''} })
        return {
          url: 'http://127.0.0.1:' + server.address().port,
          stop: async () => { ${options.stop ?? 'server.close()'} },
        }
      })`,
  })
  const path = join(folder, 'log')
  const fd = openSync(path, 'w')
  const child = spawn(process.execPath, [join(folder, 'main.mjs'), ...flags], {
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', options.log === 'pipe' ? 'pipe' : fd],
  })
  t.teardown(() => child.kill('SIGKILL'))
  let out = ''
  let piped = ''
  child.stdout?.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (piped += chunk.toString()))
  const ended = once(child, 'close').then(([code]: unknown[]) => {
    closeSync(fd)
    const text = options.log === 'pipe' ? piped : readFileSync(path, 'utf8')
    const lines = text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    return { code, out, lines, last: lines.at(-1) }
  })
  const printed = async (pattern: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const match = pattern.exec(out)
      if (match !== null) return match
      await Promise.race([once(child.stdout!, 'data'), ended.then(() => Promise.reject(new Error(`ended: ${out}`)))])
    }
  }
  return { child, ended, printed }
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  t.test(`says where it is when ready, and ends with 0 on ${signal}`, async (t) => {
    const { child, ended, printed } = start(t, ['--http-port=0'])
    const [, url] = await printed(/^Pulsefold is ready at (http:\/\/127\.0\.0\.1:\d+)$/m)
    t.equal(await (await fetch(url!, { headers: { connection: 'close' } })).text(), 'here')
    child.kill(signal)
    const { code, out, lines, last } = await ended
    t.equal(code, 0)
    t.match(out, /^Pulsefold is ready at \S+\nanswered\nPulsefold is stopping\n$/)
    t.match(lines[0], { msg: 'starting', settings: { httpPort: 0, dmiPassword: '' } })
    t.match(last, { level: 'info', msg: 'stopped' })
  })
}

for (const log of ['file', 'pipe'] as const) {
  t.test(`SH-06 wrong settings: all named, code 78, the reason is the last line on a ${log}`, async (t) => {
    const { code, out, last } = await start(t, ['--http-port=x', '--partition=3'], { log }).ended
    t.equal(code, 78)
    t.match(
      out,
      /^Pulsefold cannot start: the settings are wrong:\n {2}"--partition" .*--partitions\?\n {2}--http-port .*\n$|^Pulsefold cannot start: the settings are wrong:\n {2}--http-port .*\n {2}"--partition" .*--partitions\?\n$/,
    )
    t.match(last, { level: 'fatal', msg: 'cannot start', err: { code: 'SETTINGS_INVALID' } })
  })

  t.test(`SH-06 an error that nobody caught: code 70, the reason is the last line on a ${log}`, async (t) => {
    const { code, lines, last } = await start(t, ['--http-port=0'], {
      log,
      whenReady: `for (let n = 0; n < 1000; n += 1) logger.info({ n }, 'work'); null.x`,
    }).ended
    t.equal(code, 70)
    t.ok(lines.length > 1000)
    t.match(last, { level: 'fatal', msg: 'uncaught error', err: { type: 'TypeError', stack: /main\.mjs/ } })
  })

  t.test(`SH-06 a promise that nobody caught: code 70, the reason is the last line on a ${log}`, async (t) => {
    const { code, last } = await start(t, ['--http-port=0'], { log, whenReady: `Promise.reject(new Error('boo'))` })
      .ended
    t.equal(code, 70)
    t.match(last, { level: 'fatal', msg: 'unhandled rejection', err: { message: 'boo' } })
  })

  t.test(
    `SH-06 a failure reported by the service: it drains, code 70, the reason is the last line on a ${log}`,
    async (t) => {
      const { code, lines, last } = await start(t, ['--http-port=0'], {
        log,
        whenReady: `fail(new Error('consumer is gone'))`,
        stop: `logger.info('drained')`,
      }).ended
      t.equal(code, 70)
      t.match(lines.at(-2), { msg: 'drained' })
      t.match(last, { level: 'fatal', msg: 'stopped after a failure', err: { message: 'consumer is gone' } })
    },
  )
}

t.test('a port that is taken is named, code 69', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const { code, out, last } = await start(t, [`--http-port=${port}`]).ended
  t.equal(code, 69)
  t.match(out, `Pulsefold cannot start: port ${port} of 127.0.0.1 is taken by another process.`)
  t.match(last, { level: 'fatal', err: { code: 'EADDRINUSE' } })
})

t.test('a second signal ends it at once, however long the drain takes', async (t) => {
  const { child, ended, printed } = start(t, ['--http-port=0'], {
    stop: 'await new Promise(() => setInterval(() => {}, 1000))',
  })
  await printed(/ready/)
  child.kill('SIGTERM')
  await printed(/stopping/)
  child.kill('SIGINT')
  t.equal((await ended).code, 130)
})

t.test('a reader of the output who leaves takes nothing with him', async (t) => {
  const { child, ended, printed } = start(t, ['--http-port=0'])
  const [, url] = await printed(/ready at (\S+)$/m)
  child.stdout!.destroy()
  for (let n = 0; n < 3; n += 1) {
    t.equal(await (await fetch(url!, { headers: { connection: 'close' } })).text(), 'here')
  }
  child.kill('SIGTERM')
  t.equal((await ended).code, 0)
})

t.test('--help tells the flags and starts nothing', async (t) => {
  const { code, out, lines } = await start(t, ['--help']).ended
  t.equal(code, 0)
  t.match(out, '--dmi-health-interval-ms')
  t.same(lines, [])
})
