import t from 'tap'
import { E2T, E2T_2, KeepAliveKit, RAN, RIC } from './test-kit.js'

t.test('a new instance is stored once the Routing Manager knows of it', async (t) => {
  const kit = new KeepAliveKit()
  kit.routingManager = 'away'
  kit.init()
  t.equal(kit.instance()?.state, 'REGISTERING')
  t.strictSame(await kit.list(), [])
  t.equal(await kit.selection(), null)
  kit.routingManager = 'up'
  kit.callRoutingManager()
  t.strictSame(kit.calls, [`POST e2t {"E2TAddress":"${E2T}"}`])
  t.match(kit.instance(), { state: 'ACTIVE', ranCount: 0, podName: `pod-${E2T}`, registeredAt: kit.time })
  t.strictSame(await kit.list(), [`${E2T} `])
})

t.test('one that the Routing Manager does not take is forgotten, and its next init starts again', async (t) => {
  const kit = new KeepAliveKit()
  kit.routingManager = 'refusing'
  kit.init()
  t.equal(kit.instance(), undefined)
  t.strictSame(await kit.owedCalls(), [])
  kit.routingManager = 'up'
  kit.init()
  t.equal(kit.instance()?.state, 'ACTIVE')
})

t.test('inits of an instance that is being registered are the same one', async (t) => {
  const kit = new KeepAliveKit()
  kit.routingManager = 'away'
  for (let i = 0; i < 3; i++) kit.init()
  t.equal(kit.owed(RIC).length, 1)
  t.equal(kit.count('ignored_inits', 'REGISTERING'), 2)
})

t.test(
  'an init of a known idle instance counts as a sign of life, and the Routing Manager is told again',
  async (t) => {
    const kit = new KeepAliveKit()
    kit.init()
    kit.run(1000)
    kit.sent('e2t-keep-alive-requests')
    kit.init(E2T, { podName: 'pod-again' })
    t.match(kit.instance(), { state: 'ACTIVE', registeredAt: kit.time, podName: 'pod-again' })
    t.equal(kit.calls.length, 2)
    t.strictSame(kit.sent('e2t-keep-alive-requests'), [`1101  ${E2T}`], 'it is asked at once')
  },
)

t.test('an init of an instance with RANs disconnects them, in one call', async (t) => {
  const kit = new KeepAliveKit()
  kit.init()
  kit.setUp('ran-1')
  kit.setUp('ran-2')
  kit.calls.length = 0
  kit.sent('ran-connection-events')
  kit.run(1000)
  kit.init()
  t.strictSame(kit.calls, [`POST dissociate-ran [{"E2TAddress":"${E2T}","ranNamelist":["ran-1","ran-2"]}]`])
  t.strictSame(kit.sent('ran-connection-events'), ['ran-1_DISCONNECTED', 'ran-2_DISCONNECTED'])
  t.match(kit.ran('ran-1'), { state: 'DISCONNECTED', e2tAddress: '' })
  t.match(kit.instance(), { state: 'ACTIVE', ranCount: 0, registeredAt: kit.time })
})

t.test('of two restarts while the Routing Manager is away one call is owed, with the RANs of both', async (t) => {
  const kit = new KeepAliveKit()
  kit.init()
  kit.setUp('ran-1')
  kit.routingManager = 'away'
  kit.init()
  kit.init()
  kit.setUp('ran-2')
  kit.init()
  t.match(await kit.owedCalls(), [{ e2tAddress: E2T, purpose: 'dissociate', ranNames: ['ran-1', 'ran-2'] }])
  t.equal(kit.owed(RIC).length, 1)
})

t.test(
  'an init of an instance to be deleted does nothing, with RANs or without; once it is gone it registers',
  async (t) => {
    for (const ranNames of [[], [RAN]]) {
      const kit = new KeepAliveKit()
      kit.init()
      for (const ranName of ranNames) kit.setUp(ranName)
      kit.routingManager = 'away'
      kit.run(3000)
      t.equal(kit.instance()?.state, 'TO_BE_DELETED')
      const owed = kit.owed(RIC)
      kit.init()
      t.equal(kit.count('ignored_inits', 'TO_BE_DELETED'), 1)
      t.strictSame(kit.owed(RIC), owed, 'the Routing Manager is not told')
      kit.routingManager = 'up'
      kit.callRoutingManager()
      t.equal(kit.instance(), undefined)
      kit.init()
      t.equal(kit.instance()?.state, 'ACTIVE')
    }
  },
)

t.test('an init or a lost connection delivered twice does not undo a later setup', async (t) => {
  const kit = new KeepAliveKit()
  kit.init(E2T, { eventId: 'init-x' })
  kit.setUp()
  kit.init(E2T, { eventId: 'init-x' })
  t.equal(kit.ran()?.state, 'CONNECTED')
  kit.lose(RAN, 'lost-x')
  kit.answering.set(E2T, 10)
  kit.run(10_000)
  kit.setUp()
  kit.lose(RAN, 'lost-x')
  t.equal(kit.ran()?.state, 'CONNECTED')
  t.equal(kit.count('repeated_messages'), 2)
  kit.run(10 * 60_000, 250)
  kit.lose(RAN, 'lost-x')
  t.equal(kit.ran()?.state, 'DISCONNECTED', 'after ten minutes it is another')
})

t.test('an address that registers again withdraws what is owed for its former life', async (t) => {
  const kit = new KeepAliveKit({ kubernetesNamespace: 'ricplt' })
  kit.init()
  kit.setUp()
  kit.routingManager = 'away'
  kit.run(3000)
  kit.run(16_000, 250)
  t.equal(kit.instance(), undefined, 'its time is up')
  t.match(await kit.owedCalls(), [{ purpose: 'delete' }], 'the Routing Manager is still to be told')
  kit.init()
  t.match(await kit.owedCalls(), [{ purpose: 'register' }])
  t.equal(kit.owed(RIC).length, 1, 'and no pod is to be deleted')
})

t.test('HS-18 repeated setups and inits, and a move, leave no double', async (t) => {
  const kit = new KeepAliveKit()
  kit.init(E2T)
  kit.init(E2T_2)
  kit.answering.set(E2T, 10).set(E2T_2, 10)
  for (let i = 0; i < 3; i++) kit.setUp('ran-1', E2T)
  t.strictSame(await kit.list(), [`${E2T} ran-1`, `${E2T_2} `])
  t.match(await kit.selection(), { e2tAddress: E2T_2, ranCount: 0 })
  for (let i = 0; i < 3; i++) kit.init(E2T)
  kit.run(10_000)
  kit.setUp('ran-1', E2T)
  t.strictSame(await kit.list(), [`${E2T} ran-1`, `${E2T_2} `])
  kit.setUp('ran-1', E2T_2)
  t.strictSame(await kit.list(), [`${E2T} `, `${E2T_2} ran-1`])
  t.strictSame([kit.instance(E2T)?.ranCount, kit.instance(E2T_2)?.ranCount], [0, 1])
  t.strictSame(await kit.selection(), { e2tAddress: E2T, ranCount: 0 })
})

t.test('the selection is the active instance with the fewest RANs, the first registered among equals', async (t) => {
  const kit = new KeepAliveKit()
  t.equal(await kit.selection(), null)
  kit.init(E2T_2)
  kit.init(E2T)
  kit.answering.set(E2T_2, 10)
  t.strictSame(await kit.selection(), { e2tAddress: E2T_2, ranCount: 0 })
  kit.setUp('ran-1', E2T_2)
  t.strictSame(await kit.selection(), { e2tAddress: E2T, ranCount: 0 })
  kit.routingManager = 'away'
  kit.run(3000)
  t.equal(kit.instance(E2T)?.state, 'TO_BE_DELETED')
  t.strictSame(await kit.selection(), { e2tAddress: E2T_2, ranCount: 1 })
})
