import type { EffectRequest, JournalEvent } from '../../topology/processor.js'
import type { Actor, Scenario } from './scenario.js'

const RIC = 'AACCE'
const INSTANCES = ['10.0.0.1:38000', '10.0.0.2:38000']

/** The Routing Manager does not answer. */
let isAway = false

/** Two E2T instances with RANs; one falls silent, and is removed once the Routing Manager is back; the red button. */
export const keepAliveScenario: Scenario = {
  domain: 'keep-alive',
  perform,
  async play(actor) {
    const { driver, command, ingest } = actor
    for (const [i, address] of INSTANCES.entries()) {
      const said = { source: address, eventId: `init-${i}` }
      await ingest(RIC, 'E2tInitReported', { ric: RIC, address, podName: `pod-${i}`, ...said })
    }
    for (let i = 0; i < 4; i++) await setUp(actor, `gnb_${i}`, INSTANCES[i % 2] ?? '')
    for (let step = 0; step < 40; step++) {
      await driver.advance(250)
      // What is owed after the kill, with the names of the RANs in their order, stands for some seals.
      isAway = step >= 10 && step < 30
      const answering = step < 10 ? INSTANCES : INSTANCES.slice(0, 1)
      for (const address of answering) await ingest(RIC, 'KeepAliveAnswered', { ric: RIC, address })
    }
    await ingest(RIC, 'RanConnectionLost', { ric: RIC, ranName: 'gnb_0', source: INSTANCES[0], eventId: 'lost-1' })
    await driver.stop()
    await driver.start()
    await command(RIC, 'RedButtonPressed', { ric: RIC })
    await driver.advance(8000, 250)
  },
}

async function setUp({ ingest }: Actor, ranName: string, address: string): Promise<void> {
  const ids = { plmnId: '02F829', nbId: '001100000011000000110000', nodeType: 'GNB', transactionId: '1' }
  const ranFunctions = [1, 2].map((ranFunctionId) => {
    return { ranFunctionId, ranFunctionRevision: 1, ranFunctionDefinition: '', ranFunctionOid: '' }
  })
  await ingest(RIC, 'E2SetupRequested', { ric: RIC, address, ranName, ...ids, ranFunctions })
}

function perform({ id: effectId, kind, payload }: EffectRequest): JournalEvent {
  if (isAway) throw new Error('no answer')
  const { ric, call, address } = payload as Record<string, string>
  if (kind === 'pod-lookup') return { type: 'PodFound', data: { ric, address, effectId, uid: 'uid-1' } }
  if (kind === 'pod-deletion') return { type: 'PodDeleted', data: { ric, address, effectId, outcome: 'deleted' } }
  return { type: 'RoutingManagerCalled', data: { ric, call, effectId, succeeded: true, outcome: 'answered 201' } }
}
