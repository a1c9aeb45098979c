import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { systemClock } from '../../common/clock.js'
import { simulateSis } from '../simulate/sis/simulate-sis.js'
import { isSisAsExpected } from '../simulate/sis/report.js'
import { startSystem, temporaryFolder } from './fixtures.js'
import { begunAt, OUTCOMES, outcome, platformsOf } from './outcomes.js'
import { spawnPulsefold } from './real-process.js'
import { until } from './until.js'

const run = promisify(execFile)
const DETECT_MS = 400
const RETRY_MS = 300
const short = { detectInterval: DETECT_MS, retryInterval: RETRY_MS }

t.test('IV-12 a call id of 64 bits keeps every digit: in the journal, and in a dead letter', async (t) => {
  const system = await startSystem(t)
  const platforms = platformsOf(system)
  await platforms.create('vm', ['a1'], { detectInterval: 3_600_000 })
  const json = '{"platform":"vm","address":"a1","result":"success","callId":9007199254740993}'
  const { log } = system.pulsefold().application
  const nobody = json.replace('"a1"', '"nobody"')
  const records = [outcome('vm', 'a1', '', { json }), outcome('vm', 'a1', '', { json: nobody })]
  await log.append(OUTCOMES, 0, records)
  await platforms.counted('vm', 1)
  const { text } = await system.ask('/ops/topics/pulsefold-address-health-journal/records?limit=1000')
  t.match(text, '9007199254740993')
  t.notMatch(text, '9007199254740992')
  const [letter] = await until('the dead letter', async () => {
    const letters = await system.deadLetters()
    return letters.length > 0 && letters
  })
  t.equal(letter?.headers['__streams.errors.exception'], 'UNKNOWN_ADDRESS')
  t.equal(String(letter?.value), nobody)
})

t.test('TS-01 TS-02 records dated -1 or next year count at arrival, once', async (t) => {
  const system = await startSystem(t)
  const platforms = platformsOf(system)
  await platforms.create('vm', ['a1', 'a2'], { detectInterval: 2000 })
  const nextYear = Date.now() + 366 * 24 * 3_600_000
  const { log } = system.pulsefold().application
  await log.append(OUTCOMES, 1, [
    outcome('vm', 'a1', 'failure', { timestamp: -1 }),
    outcome('vm', 'a1', 'success', { timestamp: nextYear, time: new Date(nextYear).toISOString() }),
    ...Array.from({ length: 10 }, () => outcome('vm', 'a1', 'failure')),
  ])
  await platforms.stateIs('vm', 'failed')
  await platforms.alarms(1)
  const [alarm] = await system.records('alarms')
  t.match(JSON.parse(String(alarm?.value)), { failed: 11, calls: 12 })
  t.equal(await system.metric('pulsefold_fold_events_total', 'replaced_outcome_times', 'future'), 1)
  const { since } = (await platforms.addresses('vm'))[0]!
  t.ok(Date.parse(since) <= Date.now() + 1000)
  t.equal(await system.metric('pulsefold_dead_letter_records_total'), 0)
})

t.test('HS-09 no calls, one call, exactly at the threshold, and below', async (t) => {
  const system = await startSystem(t)
  const platforms = platformsOf(system)
  const cases = [
    [0, 0, 'active'],
    [1, 1, 'failed'],
    [10, 5, 'failed'],
    [10, 4, 'active'],
  ] as const
  for (const [at] of cases.entries()) await platforms.create(`p${at}`, ['a1'], { detectInterval: 1000 })
  const results = cases.flatMap(([calls, failed], at) =>
    Array.from({ length: calls }, (_, call) => {
      return { platform: `p${at}`, address: 'a1', result: call < failed ? 'failure' : 'success' }
    }),
  )
  await platforms.report(results)
  for (const [at, [, , state]] of cases.entries()) if (state === 'failed') await platforms.stateIs(`p${at}`, state)
  for (const [at, [, , state]] of cases.entries()) {
    const [address] = await platforms.addresses(`p${at}`)
    t.equal(address?.state, state)
  }
  t.notMatch((await system.ask('/external-platforms')).text, 'NaN')
})

t.test(
  'HS-10 trials: ok, ok, fail, ok, ok, ok; one a retry interval, the rest of the calls goes elsewhere',
  async (t) => {
    const system = await startSystem(t)
    const platforms = platformsOf(system)
    await platforms.create('vm', ['a1', 'a2'], short)
    await platforms.report([{ platform: 'vm', address: 'a1', result: 'failure' }])
    await platforms.stateIs('vm', 'failed')
    const trials: number[] = []
    for (const result of ['success', 'success', 'failure', 'success', 'success', 'success']) {
      t.equal((await platforms.addresses('vm'))[0]?.state, 'failed')
      const attemptId = await until('a trial', async () => {
        const selected = await platforms.select('vm')
        if (selected?.attemptId === undefined) t.equal(selected?.address, 'a2')
        else t.equal(selected.address, 'a1')
        return selected?.attemptId
      })
      trials.push(begunAt(attemptId))
      await platforms.report([{ platform: 'vm', address: 'a1', result, attemptId }])
    }
    await platforms.stateIs('vm', 'active')
    for (const [n, at] of trials.slice(1).entries()) t.ok(at - trials[n]! >= RETRY_MS, `${at - trials[n]!} ms`)
    t.same(await platforms.alarms(2), ['raised vm/1 THRESHOLD', 'cleared vm/1 REPAIRED'])
  },
)

t.test('HS-12 intervals of 0 switch off, and nonsense is refused', async (t) => {
  const system = await startSystem(t)
  const platforms = platformsOf(system)
  await platforms.create('off', ['a1'], { detectInterval: 0 })
  await platforms.report(Array.from({ length: 1000 }, () => ({ platform: 'off', address: 'a1', result: 'failure' })))
  await platforms.create('vm', ['a1', 'a2'], { ...short, retryInterval: 0 })
  await platforms.report([{ platform: 'vm', address: 'a1', result: 'failure' }])
  await platforms.stateIs('vm', 'failed')
  for (let call = 0; call < 100; call++) t.match(await platforms.select('vm'), { address: 'a2', attemptId: undefined })
  t.equal((await platforms.operate('vm', 0, 'repair')).status, 200)
  t.same(await platforms.alarms(2), ['raised vm/1 THRESHOLD', 'cleared vm/1 MANUAL_REPAIR'])
  t.equal((await platforms.addresses('off'))[0]?.state, 'active')
  for (const value of [-1, 2.5, '5000', null]) {
    const body = { name: 'bad', selectionMode: 'LOAD_SHARE', detectInterval: value, retryInterval: value }
    t.equal((await system.ask('/external-platforms', { body })).status, 400, String(value))
  }
  t.equal((await system.ask('/external-platforms/bad')).status, 404)
})

t.test('HS-14 over restarts the alarm topic holds raise, clear, raise', async (t) => {
  const system = await startSystem(t)
  const platforms = platformsOf(system)
  const restart = async (): Promise<void> => {
    await system.stop()
    await system.start()
  }
  await platforms.create('vm', ['a1', 'a2'], short)
  await platforms.report([{ platform: 'vm', address: 'a1', result: 'failure' }])
  await platforms.stateIs('vm', 'failed')
  await restart()
  t.equal((await platforms.addresses('vm'))[0]?.state, 'failed')
  for (let trial = 1; trial <= 3; trial++) {
    const attemptId = await until('a trial', async () => (await platforms.select('vm'))?.attemptId)
    await platforms.report([{ platform: 'vm', address: 'a1', result: 'success', attemptId }])
    if (trial === 2) await restart()
  }
  await platforms.stateIs('vm', 'active')
  await platforms.report([{ platform: 'vm', address: 'a1', result: 'failure' }])
  await platforms.stateIs('vm', 'failed')
  await restart()
  t.same(await platforms.alarms(3), ['raised vm/1 THRESHOLD', 'cleared vm/1 REPAIRED', 'raised vm/1 THRESHOLD'])
})

t.test('OR-02 ten successes and nine failures, kill -9 inside the interval, a failure sent twice', async (t) => {
  const folder = temporaryFolder(t)
  const first = spawnPulsefold(t, folder)
  await first.ready
  const before = platformsOf(first)
  await before.create('vm', ['a1'], { detectInterval: 15_000 })
  const results = [...Array<string>(10).fill('success'), ...Array<string>(9).fill('failure')]
  const outcomes = results.map((result, call) => ({ platform: 'vm', address: 'a1', result, callId: `c-${call}` }))
  await before.report(outcomes)
  first.kill('SIGKILL')
  await first.ended
  const second = spawnPulsefold(t, folder)
  await second.ready
  const after = platformsOf(second)
  await after.report(outcomes.slice(-1))
  await until('the repeat', async () => (await second.metric('pulsefold_fold_events_total', 'repeated')) > 0)
  const [address] = await after.addresses('vm')
  t.match(address, { state: 'active', window: { calls: 19, failed: 9 } })
  await after.counted('vm', 0)
  t.match((await after.addresses('vm'))[0], { state: 'active' })
  t.same(await after.alarms(), [])
})

t.test('the verdict comes with the end of the interval', async (t) => {
  const system = await startSystem(t)
  const platforms = platformsOf(system)
  await platforms.create('vm', ['a1', 'a2'], { detectInterval: 1000 })
  const created = Date.parse((await platforms.addresses('vm'))[0]!.since)
  await platforms.report([{ platform: 'vm', address: 'a1', result: 'failure' }])
  await platforms.stateIs('vm', 'failed')
  const lateMs = (Date.parse((await platforms.addresses('vm'))[0]!.since) - created) % 1000
  t.comment(`FAILED ${lateMs} ms after the end of the interval`)
  t.ok(lateMs < 300, `${lateMs} ms`)
})

t.test('platforms are printed as tables', async (t) => {
  const system = await startSystem(t)
  await platformsOf(system).create('vm', ['10.0.0.1:5060', 'a2'])
  await platformsOf(system).create('other', [])
  const { url } = system.pulsefold()
  const cli = join(import.meta.dirname, '..', 'cli.js')
  const print = async (...args: string[]): Promise<string> =>
    (await run(process.execPath, [cli, 'platforms', ...args, '--url', url])).stdout
  t.match(await print('vm'), /^vm; ACTIVE_STANDBY; .*\n {2}position {2}address .*\n {9}0 {2}10\.0\.0\.1:5060 {2}active/)
  t.match(await print(), /^other; .*\n {2}no addresses\nvm; /)
  await t.rejects(print('nobody'), /answered 404: .*there is no platform/)
})

t.test('a simulation of SIS nodes finds all moves as expected', async (t) => {
  const system = await startSystem(t)
  const options = {
    url: system.pulsefold().url,
    platforms: 2,
    addresses: 3,
    outages: 1,
    nodes: 3,
    rate: 20,
    durationMs: 10_000,
    detectIntervalMs: 300,
    retryIntervalMs: 300,
    retryAttempts: 2,
    seed: 5,
    cleanUp: true,
  }
  const progress = { update: () => undefined, step: () => undefined, stop: () => undefined }
  const signal = new AbortController().signal
  const report = await simulateSis(options, { clock: systemClock, signal, progress })
  t.ok(isSisAsExpected(report), JSON.stringify(report))
  t.equal(report.outages.length, 2)
  t.ok(report.calls > 100 && report.retries >= 4)
  t.same(await system.json('/external-platforms'), [], 'cleaned up')
})
