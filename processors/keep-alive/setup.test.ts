import t from 'tap'
import { nodebs, keyOf } from './tables.js'
import { E2T, E2T_2, KeepAliveKit, RAN, RIC } from './test-kit.js'

const SUCCESS = `12002 {"ranName":"${RAN}","transactionId":"1","globalRicId":{"plmnId":"131014","ricId":"${RIC}"}} ${E2T}`
const failure = (cause: string, address = E2T): string =>
  `12003 {"ranName":"${RAN}","transactionId":"1","cause":"${cause}","timeToWaitSec":60} ${address}`
const BUSY = failure('transport/transport-resource-unavailable')

function withInstances(settings: ConstructorParameters<typeof KeepAliveKit>[0] = {}): KeepAliveKit {
  const kit = new KeepAliveKit(settings)
  kit.init(E2T)
  kit.init(E2T_2)
  kit.answering.set(E2T, 10).set(E2T_2, 10)
  kit.calls.length = 0
  return kit
}

t.test('a setup connects and associates a RAN, and is answered', async (t) => {
  const kit = withInstances()
  kit.setUp()
  t.match(kit.ran(), { state: 'CONNECTED', e2tAddress: E2T, plmnId: '02F829', stateChangedAt: kit.time })
  t.match(JSON.parse(kit.row(nodebs, RIC, keyOf(RIC, RAN))?.configuration ?? ''), {
    ranFunctions: [1, 2, 3].map((ranFunctionId) => ({ ranFunctionId, ranFunctionRevision: 1 })),
  })
  t.strictSame(kit.sent('e2t-commands'), [SUCCESS])
  t.strictSame(kit.sent('ran-connection-events'), [`${RAN}_CONNECTED`])
  t.strictSame(kit.sent('ran-manipulation-events'), [`${RAN}_ADDED`])
  t.strictSame(kit.calls, [`POST associate-ran-to-e2t [{"E2TAddress":"${E2T}","ranNamelist":["${RAN}"]}]`])
  kit.setUp()
  t.strictSame(kit.sent('e2t-commands'), [SUCCESS], 'again: answered again')
  t.strictSame([...kit.sent('ran-connection-events'), ...kit.sent('ran-manipulation-events')], [], 'and nothing else')
})

t.test('HS-17 an association whose call fails stays, and the call stays owed', async (t) => {
  const kit = withInstances()
  kit.routingManager = 'away'
  kit.setUp()
  t.equal(kit.ran()?.state, 'CONNECTED')
  t.strictSame(kit.sent('e2t-commands'), [SUCCESS])
  kit.run(60_000, 250)
  t.match(await kit.owedCalls(), [{ e2tAddress: E2T, purpose: 'associate', ranNames: [RAN] }])
})

t.test('HS-17 with `fail` the Routing Manager is waited for; its failure disconnects the RAN', async (t) => {
  const kit = withInstances({ onRoutingManagerFailure: 'fail' })
  kit.routingManager = 'away'
  kit.setUp()
  t.equal(kit.ran()?.state, 'CONNECTING')
  t.strictSame([...kit.sent('e2t-commands'), ...kit.sent('ran-connection-events')], [])
  kit.routingManager = 'up'
  kit.callRoutingManager()
  t.match(kit.ran(), { state: 'CONNECTED', e2tAddress: E2T })
  t.strictSame(kit.sent('e2t-commands'), [SUCCESS])
  t.strictSame(kit.sent('ran-connection-events'), [`${RAN}_CONNECTED`])

  kit.routingManager = 'refusing'
  kit.setUp()
  t.match(kit.ran(), { state: 'DISCONNECTED', e2tAddress: '' }, 'not left half attached')
  t.equal(kit.instance()?.ranCount, 0)
  t.strictSame(kit.sent('e2t-commands'), [BUSY])
  t.strictSame(kit.sent('ran-connection-events'), [`${RAN}_DISCONNECTED`])
  t.ok(kit.row(nodebs, RIC, keyOf(RIC, RAN))?.configuration.includes('"ranFunctionId":3'), 'its functions are kept')
})

t.test('with `fail` a RAN lost while it is waited for is not connected afterwards', async (t) => {
  const kit = withInstances({ onRoutingManagerFailure: 'fail' })
  kit.routingManager = 'away'
  kit.setUp()
  const [awaited] = kit.owed(RIC)
  kit.lose()
  t.equal(kit.ran()?.state, 'DISCONNECTED')
  if (awaited !== undefined) kit.endCall(awaited, true)
  t.equal(kit.ran()?.state, 'DISCONNECTED')
  t.match(await kit.owedCalls(), [{ purpose: 'dissociate' }])
})

t.test('a RIC that is disabled refuses setups', async (t) => {
  const kit = withInstances()
  t.strictSame(kit.when(RIC, { type: 'RicParametersSet', data: { ric: RIC, enableRic: false } }), { enableRic: false })
  kit.setUp()
  t.strictSame(kit.sent('e2t-commands'), [failure('misc/om-intervention')])
  t.equal(kit.ran(), undefined)
  kit.setUp(RAN, '10.0.0.9:38000')
  t.strictSame(kit.sent('e2t-commands'), [failure('misc/om-intervention', '10.0.0.9:38000')], 'by whichever instance')
  kit.when(RIC, { type: 'RicParametersSet', data: { ric: RIC, enableRic: true } })
  kit.setUp()
  t.equal(kit.ran()?.state, 'CONNECTED')
})

t.test('setups of instances that are not active get no answer', async (t) => {
  const kit = new KeepAliveKit()
  kit.setUp()
  kit.routingManager = 'away'
  kit.init()
  kit.setUp()
  t.strictSame(kit.sent('e2t-commands'), [])
  t.equal(kit.count('unanswered_setups'), 2)
})

t.test('a RAN disconnected for less than 10 s, or shutting down, is refused', async (t) => {
  const kit = withInstances()
  kit.setUp()
  kit.lose()
  kit.sent('e2t-commands')
  kit.run(9_900)
  kit.setUp()
  t.strictSame(kit.sent('e2t-commands'), [BUSY])
  kit.run(100)
  kit.setUp()
  t.strictSame(kit.sent('e2t-commands'), [SUCCESS])
  kit.pressRedButton()
  kit.sent('e2t-commands')
  kit.setUp()
  t.strictSame(kit.sent('e2t-commands'), [BUSY])
})

t.test("a RAN's owner is the last successful association", async (t) => {
  const kit = withInstances()
  kit.setUp(RAN, E2T)
  kit.calls.length = 0
  kit.setUp(RAN, E2T_2)
  t.strictSame(kit.calls, [
    `POST dissociate-ran [{"E2TAddress":"${E2T}","ranNamelist":["${RAN}"]}]`,
    `POST associate-ran-to-e2t [{"E2TAddress":"${E2T_2}","ranNamelist":["${RAN}"]}]`,
  ])
  t.strictSame(await kit.list(), [`${E2T} `, `${E2T_2} ${RAN}`])
})

t.test('a lost connection disconnects and dissociates, as the state of the RAN allows', async (t) => {
  const kit = withInstances()
  kit.lose('nobody')
  t.equal(kit.count('unknown_rans', 'lost connection'), 1)
  kit.setUp()
  kit.calls.length = 0
  kit.sent('ran-connection-events')
  kit.lose()
  t.match(kit.ran(), { state: 'DISCONNECTED', e2tAddress: '' })
  t.equal(kit.instance()?.ranCount, 0)
  t.strictSame(kit.calls, [`POST dissociate-ran [{"E2TAddress":"${E2T}","ranNamelist":["${RAN}"]}]`])
  t.strictSame(kit.sent('ran-connection-events'), [`${RAN}_DISCONNECTED`])
  const before = kit.ran()
  kit.run(100)
  kit.lose()
  t.strictSame(kit.ran(), before, 'once more: nothing')
  kit.sent('ran-manipulation-events')
  kit.run(10_000)
  kit.setUp()
  t.strictSame(kit.sent('ran-connection-events'), [`${RAN}_CONNECTED`], 'set up again (robot: Setup_existing_gNB)')
  t.strictSame(kit.sent('ran-manipulation-events'), [])
})

t.test('calls on one RAN of an instance replace each other, whatever the Routing Manager has missed', async (t) => {
  const kit = withInstances()
  kit.routingManager = 'away'
  kit.setUp()
  kit.lose()
  t.match(await kit.owedCalls(), [{ purpose: 'dissociate', ranNames: [RAN] }])
  kit.run(10_000)
  kit.setUp()
  t.match(await kit.owedCalls(), [{ purpose: 'associate', ranNames: [RAN] }])
  t.equal(kit.owed(RIC).length, 1)
})
