import { once } from 'node:events'
import t from 'tap'
import { manualClock } from '../../common/manual-clock.js'
import { silentLogger } from '../../common/logger.js'
import type { Logger } from '../../common/logger.js'
import { SettingsError } from '../../common/settings.js'
import { StoreError } from '../../state-stores/errors.js'
import { runProcess, stopLimitMs } from './lifecycle.js'
import type { Service, Start, StopSignal } from './lifecycle.js'

/** A process that only notes what happens to it. */
function process(start: Start) {
  const clock = manualClock()
  const log: string[] = []
  const printed: string[] = []
  const exits: number[] = []
  let send: (signal: StopSignal) => void = () => undefined
  let uncaught: (thrown: unknown, kind: 'uncaught error' | 'unhandled rejection') => void = () => undefined
  const note = (level: string) => (fields: object | string, message?: string) => {
    log.push(`${level}: ${typeof fields === 'string' ? fields : (message ?? '')}`)
  }
  const logger: Logger = Object.assign(silentLogger(), { info: note('info'), fatal: note('fatal') })
  const host = {
    onSignal: (listener: typeof send) => (send = listener),
    onUncaught: (listener: typeof uncaught) => (uncaught = listener),
    print: (line: string) => printed.push(line),
    exit: (code: number) => exits.push(code),
  }
  runProcess(host, clock, logger, start)
  return {
    log,
    printed,
    exits,
    send: (signal: StopSignal) => send(signal),
    uncaught: (thrown: unknown) => uncaught(thrown, 'unhandled rejection'),
    pass: (ms: number) => clock.advance(ms),
  }
}

const service = (stop: Service['stop'] = async () => undefined): Service => ({ url: 'http://127.0.0.1:8080', stop })
const never = new Promise<never>(() => undefined)

t.test('prints one line with the address when ready', async (t) => {
  const it = process(async () => service())
  await it.pass(0)
  t.same(it.printed, ['Pulsefold is ready at http://127.0.0.1:8080'])
  t.same(it.exits, [])
})

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  t.test(`drains on ${signal} and ends with 0`, async (t) => {
    let drained = false
    const it = process(async () => service(async () => void (drained = true)))
    await it.pass(0)
    it.send(signal)
    await it.pass(0)
    t.ok(drained)
    t.same(it.exits, [0])
    t.equal(it.log.at(-1), 'info: stopped')
    await it.pass(stopLimitMs)
    t.same(it.exits, [0])
  })
}

t.test('a second signal ends it at once', async (t) => {
  const it = process(async () => service(() => never))
  await it.pass(0)
  it.send('SIGTERM')
  await it.pass(100)
  t.same(it.exits, [])
  it.send('SIGINT')
  t.same(it.exits, [130])
})

t.test('a drain that does not end is given up in time', async (t) => {
  const it = process(async () => service(() => never))
  await it.pass(0)
  it.send('SIGTERM')
  await it.pass(stopLimitMs - 1)
  t.same(it.exits, [])
  await it.pass(1)
  t.same(it.exits, [75])
  t.equal(it.log.at(-1), 'fatal: stopping took too long')
})

t.test('a drain that fails ends with 70 and the reason as last line', async (t) => {
  const it = process(async () => service(() => Promise.reject(new Error('disk'))))
  await it.pass(0)
  it.send('SIGTERM')
  await it.pass(0)
  t.same(it.exits, [70])
  t.equal(it.log.at(-1), 'fatal: stopped after a failure')
})

t.test('a signal while starting stops it as soon as it stands, and it never says it is ready', async (t) => {
  let finish: (started: Service) => void = () => undefined
  const it = process(() => new Promise((resolve) => (finish = resolve)))
  await it.pass(0)
  it.send('SIGTERM')
  await it.pass(10)
  t.same(it.exits, [])
  finish(service())
  await it.pass(0)
  t.same(it.exits, [0])
  t.same(it.printed, ['Pulsefold is stopping'])
})

t.test('a start that waits is told of the signal', async (t) => {
  const it = process(async (_fail, stopping) => {
    await once(stopping, 'abort')
    return service()
  })
  await it.pass(0)
  t.same(it.printed, [])
  it.send('SIGTERM')
  await it.pass(0)
  await new Promise((resolve) => setImmediate(resolve))
  t.same(it.exits, [0])
})

t.test('a failure while running drains and ends with 70', async (t) => {
  let drained = false
  let report: (error: Error) => void = () => undefined
  const it = process(async (fail) => {
    report = fail
    return service(async () => void (drained = true))
  })
  await it.pass(0)
  report(new Error('consumer is gone'))
  report(new Error('and again'))
  await it.pass(0)
  t.ok(drained)
  t.same(it.exits, [70])
  t.equal(it.printed.at(-1), 'Pulsefold stops: consumer is gone')
  t.equal(it.log.at(-1), 'fatal: stopped after a failure')
})

t.test('SH-06 what nobody caught is the last line, and ends it with 70', async (t) => {
  const it = process(async () => service())
  await it.pass(0)
  it.uncaught('text that was thrown')
  t.same(it.exits, [70])
  t.equal(it.log.at(-1), 'fatal: unhandled rejection')
})

const osError = (code: string, rest: object) => Object.assign(new Error(`${code}: refused`), { code, ...rest })
const cannotStart = [
  {
    error: osError('EADDRINUSE', { address: '127.0.0.1', port: 8080 }),
    exit: 69,
    text: 'port 8080 of 127.0.0.1 is taken by another process. Stop it, or choose another port with --http-port.',
  },
  {
    error: osError('EACCES', { address: '::', port: 80 }),
    exit: 69,
    text: 'port 80 of :: may not be used by this user',
  },
  { error: osError('EACCES', { path: '/data' }), exit: 69, text: '/data may not be used by this user' },
  { error: osError('EADDRNOTAVAIL', { address: '1.2.3.4', port: 1 }), exit: 69, text: 'Correct --http-host.' },
  { error: new StoreError('STORE_IN_USE', 'the store is taken'), exit: 69, text: 'Stop it, or set another dataDir.' },
  { error: new SettingsError([]), exit: 78, text: 'the settings are wrong:' },
  { error: new StoreError('STORE_CORRUPT', 'damaged'), exit: 70, text: 'damaged.' },
  {
    error: new Error('the log failed', { cause: osError('ENOTDIR', { path: '/a/b' }) }),
    exit: 69,
    text: '/a/b cannot be made, as something that is not a directory is in its way.',
  },
  { error: new Error('boo', { cause: new Error('deeper') }), exit: 70, text: 'boo' },
]
for (const { error, exit, text } of cannotStart) {
  t.test(`ends with ${exit} when the start fails by ${error.message}`, async (t) => {
    const it = process(() => Promise.reject(error))
    await it.pass(0)
    t.same(it.exits, [exit])
    t.equal(it.printed.length, 1)
    t.ok(it.printed[0]!.startsWith('Pulsefold cannot start: '))
    t.ok(it.printed[0]!.includes(text))
    t.equal(it.log.at(-1), 'fatal: cannot start')
  })
}
