import t from 'tap'
import type { Test } from 'tap'
import type { AddressHealthEvent, RetryAnswer } from '../../schemas/address-health/journal-events.js'
import type { Effector } from '../../topology/processor.js'
import { TopologyTestDriver } from '../../topology/test-driver.js'
import type { TestDriverOptions } from '../../topology/test-driver.js'
import { ALERTMANAGER_POST } from './effects/alertmanager-request.js'
import { addressHealth, addressHealthQueries as queries } from './index.js'
import { defaults, PLATFORM, testSettings } from './test-kit.js'

/** The domain in the real engine, on memory stores: what the fold kit leaves out. */

const DOMAIN = 'address-health'
const TOPIC = 'sis-call-outcomes'

class Run {
  readonly driver: TopologyTestDriver
  readonly posted: string[] = []
  #named = 0

  constructor(alertmanager = false, left: Pick<TestDriverOptions, 'stores' | 'clock'> = {}) {
    const effector: Effector = {
      kind: ALERTMANAGER_POST,
      deadlineMs: 1000,
      perform: ({ target, payload }) => {
        this.posted.push(`${target} ${'endsAt' in (payload as object)}`)
        return Promise.resolve({ type: 'AlarmPosted', data: { alarm: target, posted: true, reason: '' } })
      },
    }
    const settings = { ...testSettings, alertmanager }
    const options = { settings, callOutcomeTopic: TOPIC, random: () => 0, effectors: [effector] }
    this.driver = new TopologyTestDriver({ processors: [addressHealth(options)], partitions: 3, ...left })
  }

  async command(event: AddressHealthEvent): Promise<unknown> {
    const options = { commandId: `command-${++this.#named}`, timeoutMs: 60_000 }
    const [result] = await Promise.all([
      this.driver.application.command(DOMAIN, { key: PLATFORM }, event, options),
      this.driver.settle(),
    ])
    if (!result.ok) throw new Error(result.message)
    return result.answer
  }

  create(...addresses: readonly string[]): Promise<unknown> {
    const added = addresses.map((address) => ({ address, active: true }))
    return this.command({ type: 'PlatformCreated', data: { platform: PLATFORM, ...defaults, addresses: added } })
  }

  repair(position = 0): Promise<unknown> {
    const data = { platform: PLATFORM, position, operation: 'repair', expected: null } as const
    return this.command({ type: 'AddressOperated', data })
  }

  retry(): Promise<RetryAnswer> {
    const data = { platform: PLATFORM, addressId: 1, callId: 'c' }
    return this.command({ type: 'RetryRequested', data }) as Promise<RetryAnswer>
  }

  outcome(address: string, result: string, attemptId?: string, id = `e-${++this.#named}`): Promise<void> {
    const headers = {
      ce_specversion: '1.0',
      ce_id: id,
      ce_type: 'com.opencloud.sis.call-outcome',
      ce_source: 'sis',
      'content-type': 'application/json',
    }
    const data = { platform: PLATFORM, address, result, callId: id, attemptId: attemptId ?? null }
    return this.driver.pipe(TOPIC, {
      key: null,
      value: Buffer.from(JSON.stringify(data)),
      headers: Object.entries(headers).map(([name, value]) => [name, Buffer.from(value)]),
    })
  }

  /** "a1 ACTIVE 3/1": state, and calls and failures of the interval that runs. */
  async shown(): Promise<string[]> {
    const answer = await this.driver.application.query(DOMAIN, queries.platform, PLATFORM, { platform: PLATFORM })
    if (!answer.ok || answer.result === null) throw new Error('there is no platform')
    return answer.result.addresses.map(
      ({ address, state, window, retry }) =>
        `${address} ${state} ${state === 'FAILED' ? retry.successes : `${window.calls}/${window.failed}`}`,
    )
  }

  /** All that stands on the topic of alarms. */
  async alarms(): Promise<string[]> {
    return (await this.driver.read('alarms')).map(({ key, value }) => {
      const { state, reason } = JSON.parse(String(value)) as Record<string, string>
      return `${state} ${String(key)} ${reason}`
    })
  }

  async restart(how: 'crash' | 'stop'): Promise<void> {
    if (how === 'crash') this.driver.crash()
    else await this.driver.stop()
    await this.driver.start()
  }
}

async function started(t: Test, alertmanager = false): Promise<Run> {
  const run = new Run(alertmanager)
  await run.driver.start()
  t.teardown(() => run.driver.stop())
  return run
}

t.test('OR-02 row 33 counts of an interval survive a crash, and a repeat after it is known', async (t) => {
  const run = await started(t)
  await run.create('a1')
  for (let call = 0; call < 10; call++) await run.outcome('a1', 'success')
  for (let call = 0; call < 9; call++) await run.outcome('a1', 'failure', undefined, `failed-${call}`)
  await run.restart('crash')
  t.strictSame(await run.shown(), ['a1 ACTIVE 19/9'])
  await run.outcome('a1', 'failure', undefined, 'failed-3')
  t.strictSame(await run.shown(), ['a1 ACTIVE 19/9'])
  await run.driver.advance(5000)
  t.strictSame(await run.shown(), ['a1 ACTIVE 0/0'])
  t.strictSame(await run.alarms(), [])
})

t.test('row 33 an interval that ended while nobody was there is judged at the start', async (t) => {
  const run = await started(t)
  await run.create('a1', 'a2')
  await run.outcome('a1', 'failure')
  await run.driver.stop()
  await run.driver.clock.advance(60_000)
  await run.driver.start()
  await run.driver.advance(100)
  t.strictSame(await run.shown(), ['a1 FAILED 0', 'a2 ACTIVE 0/0'])
  t.strictSame(await run.alarms(), ['raised voicemail/1 THRESHOLD'])
})

for (const how of ['crash', 'stop'] as const) {
  t.test(`HS-14 the alarm topic over restarts (${how}) holds raise, clear, raise`, async (t) => {
    const run = await started(t)
    await run.create('a1', 'a2')
    await run.outcome('a1', 'failure')
    await run.driver.advance(5000)
    await run.restart(how)
    t.strictSame(await run.shown(), ['a1 FAILED 0', 'a2 ACTIVE 0/0'])
    await run.driver.advance(31_000, 500)
    for (const attempt of [1, 2, 3]) {
      const answer = await run.retry()
      if (attempt === 2) await run.restart(how)
      await run.outcome('a1', 'success', answer.granted ? answer.attemptId : '')
      await run.restart(how)
      await run.driver.advance(31_000, 500)
    }
    t.strictSame(await run.shown(), ['a1 ACTIVE 0/0', 'a2 ACTIVE 0/0'])
    await run.outcome('a1', 'failure')
    await run.driver.advance(5000)
    await run.restart(how)
    await run.driver.advance(1000)
    t.strictSame(await run.alarms(), [
      'raised voicemail/1 THRESHOLD',
      'cleared voicemail/1 REPAIRED',
      'raised voicemail/1 THRESHOLD',
    ])
  })
}

t.test('row 13 a retry that was granted before a crash is under way after it', async (t) => {
  const run = await started(t)
  await run.create('a1', 'a2')
  await run.outcome('a1', 'failure')
  await run.driver.advance(36_000, 500)
  const first = await run.retry()
  t.match(first, { granted: true })
  await run.restart('crash')
  t.strictSame(await run.retry(), { granted: false })
  await run.driver.advance(20_000, 500)
  await run.restart('crash')
  t.strictSame(await run.retry(), { granted: false })
  await run.driver.advance(11_000, 500)
  t.match(await run.retry(), { granted: true }, 'it has ended, without an outcome')
})

t.test('row 19 no crash leaves an address without the alarm that goes with its state', async (t) => {
  for (const step of ['folded', 'outputs acknowledged', 'store written', 'changelog written'] as const) {
    const run = await started(t)
    await run.create('a1', 'a2')
    await run.outcome('a1', 'failure')
    let died = false
    run.driver.probe = (at) => {
      if (at !== step) return Promise.resolve()
      died = true
      return new Promise(() => undefined)
    }
    await run.driver.advance(5500)
    t.ok(died, step)
    run.driver.crash()
    run.driver.probe = undefined
    await run.driver.start()
    await run.driver.advance(6000)
    t.strictSame(await run.shown(), ['a1 FAILED 0', 'a2 ACTIVE 0/0'])
    t.strictSame(await run.alarms(), ['raised voicemail/1 THRESHOLD'])
    await run.repair()
    t.strictSame(await run.alarms(), ['raised voicemail/1 THRESHOLD', 'cleared voicemail/1 MANUAL_REPAIR'])
  }
})

t.test('T14 a store folded anew has the digest of the one that lived', async (t) => {
  const run = await started(t)
  await run.create('a1', 'a2')
  for (let call = 0; call < 40; call++) await run.outcome(`a${(call % 2) + 1}`, call % 3 === 0 ? 'failure' : 'success')
  await run.driver.advance(5000)
  await run.repair().catch(() => undefined)
  const before = await run.driver.digests()
  run.driver.crash()
  for (const store of run.driver.taskStores) await run.driver.stores.setAside(store, 'lost')
  await run.driver.start()
  t.strictSame(await run.driver.digests(), before)
})

t.test('Alertmanager is told once of what a new owner finds owed', async (t) => {
  const run = await started(t, true)
  await run.create('a1', 'a2')
  await run.outcome('a1', 'failure')
  await run.driver.advance(5100)
  t.strictSame(run.posted, ['voicemail/1 true'])
  await run.restart('crash')
  await run.driver.advance(10_000, 500)
  t.strictSame(run.posted, ['voicemail/1 true'])
  await run.driver.advance(60_000, 500)
  t.equal(run.posted.length, 2, 'and again, as long as it stands')
})

t.test('HS-14 an Alertmanager switched on later is told of what stands, and the topic holds it once', async (t) => {
  const run = await started(t)
  await run.create('a1', 'a2')
  await run.outcome('a1', 'failure')
  await run.driver.advance(5100)
  await run.driver.stop()
  const later = new Run(true, run.driver)
  t.teardown(() => later.driver.stop())
  await later.driver.start()
  await later.driver.advance(5000, 500)
  t.strictSame(later.posted, ['voicemail/1 true'])
  t.strictSame(await later.alarms(), ['raised voicemail/1 THRESHOLD'])
})
