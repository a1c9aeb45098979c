import type { Actor, Scenario } from './scenario.js'

const PLATFORM = 'voicemail'

/** Calls succeed and fail, addresses fail and are repaired, an operator acts. */
export const addressHealthScenario: Scenario = {
  domain: 'address-health',
  perform: ({ target }) => ({ type: 'AlarmPosted', data: { alarm: target, posted: true, reason: '' } }),
  async play(actor) {
    const { driver, command } = actor
    const addresses = ['a1', 'a2', 'a3'].map((address) => ({ address, active: true }))
    await command(PLATFORM, 'PlatformCreated', {
      platform: PLATFORM,
      selectionMode: 'ACTIVE_STANDBY',
      detectInterval: 5000,
      detectThreshold: 0.5,
      retryInterval: 10_000,
      retryAttempts: 2,
      minCalls: 1,
      panicMode: false,
      addresses,
    })
    for (let call = 0; call < 20; call++) {
      await outcome(actor, call % 2 === 0 ? 'a1' : 'a2', call % 4 === 0 ? 'failure' : 'success', call)
      await driver.advance(400)
    }
    for (let call = 20; call < 30; call++) await outcome(actor, 'a1', 'failure', call)
    await outcome(actor, 'a1', 'failure', 29)
    await driver.advance(25_000, 500)
    await command(PLATFORM, 'AddressOperated', {
      platform: PLATFORM,
      position: 0,
      operation: 'repair',
      expected: null,
    })
    await driver.stop()
    await driver.start()
    await outcome(actor, 'a3', 'success', 31)
    await driver.advance(15_000, 500)
  },
}

async function outcome({ driver }: Actor, address: string, result: string, call: number): Promise<void> {
  const headers = {
    ce_specversion: '1.0',
    ce_id: `call-${call}`,
    ce_type: 'com.opencloud.sis.call-outcome',
    ce_source: 'golden',
    'content-type': 'application/json',
  }
  const data = { platform: PLATFORM, address, result, callId: `call-${call}`, attemptId: null }
  await driver.pipe('sis-call-outcomes', {
    key: null,
    value: Buffer.from(JSON.stringify(data)),
    headers: Object.entries(headers).map(([name, value]) => [name, Buffer.from(value)]),
  })
}
