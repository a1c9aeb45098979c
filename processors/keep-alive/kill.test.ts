import t from 'tap'
import type { PodRequest } from './effect-requests.js'
import { ransOf } from './rans.js'
import { e2tInstances, keyOf, rans } from './tables.js'
import { E2T, E2T_2, KeepAliveKit, RAN, RIC } from './test-kit.js'

t.test('a kill in one fold: to be deleted, RANs disconnected, the Routing Manager told, the entry gone', async (t) => {
  const kit = new KeepAliveKit()
  kit.init()
  kit.setUp('ran-1')
  kit.setUp('ran-2')
  kit.calls.length = 0
  kit.sent('ran-connection-events')
  kit.routingManager = 'away'
  kit.run(2500)
  t.match(kit.instance(), { state: 'TO_BE_DELETED', ranCount: 0 })
  t.strictSame(await kit.list(), [`${E2T} `])
  for (const ranName of ['ran-1', 'ran-2']) t.match(kit.ran(ranName), { state: 'DISCONNECTED', e2tAddress: '' })
  t.strictSame(kit.sent('ran-connection-events'), ['ran-1_DISCONNECTED', 'ran-2_DISCONNECTED'])
  kit.routingManager = 'up'
  kit.callRoutingManager()
  t.strictSame(kit.calls, [`DELETE e2t {"E2TAddress":"${E2T}","ranNamelistTobeDissociated":["ran-1","ran-2"]}`])
  t.equal(kit.instance(), undefined)
  t.strictSame(await kit.list(), [])
  t.strictSame(await kit.owedCalls(), [])
})

t.test('an instance without RANs is deleted without a list of them', async (t) => {
  const kit = new KeepAliveKit()
  kit.init()
  kit.calls.length = 0
  kit.run(3000)
  t.strictSame(kit.calls, [`DELETE e2t {"E2TAddress":"${E2T}"}`])
})

t.test(
  'HS-17 the entry goes after 15 s though the Routing Manager is away, which stays owed until it is told',
  async (t) => {
    const kit = new KeepAliveKit()
    kit.init()
    kit.init(E2T_2)
    kit.answering.set(E2T_2, 10)
    kit.setUp()
    kit.routingManager = 'away'
    kit.run(2500)
    const ticks = kit.count('ticks')
    const due = kit.instance()?.deletionDue ?? 0
    kit.run(14_000, 250)
    t.equal(kit.instance()?.state, 'TO_BE_DELETED')
    kit.run(due - kit.time, 250)
    t.equal(kit.instance(), undefined)
    t.ok(kit.count('ticks') - ticks >= 28, 'ticks went on')
    t.match(await kit.owedCalls(), [{ ric: RIC, e2tAddress: E2T, purpose: 'delete', ranNames: [RAN] }])
    kit.routingManager = 'up'
    kit.callRoutingManager()
    t.strictSame(await kit.owedCalls(), [])
    t.strictSame(await kit.list(), [`${E2T_2} `])
  },
)

t.test('calls that the kill makes needless are withdrawn', async (t) => {
  const kit = new KeepAliveKit()
  kit.init()
  kit.routingManager = 'away'
  kit.setUp('ran-1')
  kit.setUp('ran-2')
  t.equal((await kit.owedCalls()).length, 2)
  kit.run(3000)
  t.match(await kit.owedCalls(), [{ purpose: 'delete', ranNames: ['ran-1', 'ran-2'] }])
  t.equal(kit.owed(RIC).length, 1)
})

t.test('RANs that are shut down are left alone', async (t) => {
  const kit = new KeepAliveKit()
  kit.init()
  kit.setUp('ran-1')
  kit.answering.set(E2T, 10)
  kit.pressRedButton()
  kit.run(6000)
  t.equal(kit.ran('ran-1')?.state, 'SHUT_DOWN')
  kit.answering.clear()
  kit.run(3000)
  t.equal(kit.instance(), undefined)
  t.equal(kit.ran('ran-1')?.state, 'SHUT_DOWN')
})

t.test('answers and setups of an instance to be deleted change nothing', async (t) => {
  const kit = new KeepAliveKit()
  kit.init()
  kit.routingManager = 'away'
  kit.run(2500)
  const before = kit.instance()
  kit.answer()
  kit.setUp()
  t.strictSame(kit.instance(), before)
  t.equal(kit.ran(), undefined)
  t.strictSame(kit.sent('e2t-commands'), [], 'a setup there gets no answer')
  t.equal(kit.count('unanswered_setups'), 1)
})

t.test('an instance that another life has replaced is not ended by the deadline of the former', async (t) => {
  const kit = new KeepAliveKit()
  kit.init()
  kit.run(3000)
  t.equal(kit.instance(), undefined)
  kit.init()
  kit.answering.set(E2T, 10)
  kit.run(20_000, 50)
  t.equal(kit.instance()?.state, 'ACTIVE')
})

t.test('the pod is deleted by the uid that was looked up first; each step is told by an event', async (t) => {
  const kit = new KeepAliveKit({ kubernetesNamespace: 'ricplt' })
  kit.init()
  kit.run(2500)
  const pods = (): { readonly id: string; readonly kind: string; readonly payload: PodRequest }[] =>
    kit
      .owed(RIC)
      .flatMap(({ id, kind, payload }) =>
        kind.startsWith('pod') ? [{ id, kind, payload: payload as PodRequest }] : [],
      )
  const [lookup] = pods()
  t.match(lookup, { kind: 'pod-lookup', payload: { namespace: 'ricplt', podName: `pod-${E2T}`, uid: '' } })
  const found = { ric: RIC, address: E2T, effectId: lookup?.id ?? '', uid: 'uid-7' }
  kit.settle(found.effectId, { type: 'PodFound', data: found })
  const [deletion] = pods()
  t.match(deletion, { kind: 'pod-deletion', payload: { podName: `pod-${E2T}`, uid: 'uid-7' } })
  kit.settle(found.effectId, { type: 'PodFound', data: { ...found, uid: 'uid-8' } })
  t.strictSame(pods(), [deletion], 'a second result changes nothing')
  const deleted = { ric: RIC, address: E2T, effectId: deletion?.id ?? '', outcome: 'deleted' }
  kit.settle(deleted.effectId, { type: 'PodDeleted', data: deleted })
  t.strictSame(pods(), [])
  t.equal(kit.count('pods', 'deleted'), 1)
})

t.test('a pod that is not there, has no name, or cannot be reached holds nothing back', async (t) => {
  const absent = new KeepAliveKit({ kubernetesNamespace: 'ricplt' })
  absent.init()
  absent.run(2500)
  const effectId = absent.owed(RIC)[0]?.id ?? ''
  absent.settle(effectId, { type: 'PodFound', data: { ric: RIC, address: E2T, effectId, uid: '' } })
  t.equal(absent.count('pods', 'not there'), 1)
  t.strictSame(absent.owed(RIC), [])

  const nameless = new KeepAliveKit({ kubernetesNamespace: 'ricplt' })
  nameless.init(E2T, { podName: '' })
  nameless.run(3000)
  t.equal(nameless.instance(), undefined)
  const asked = nameless.owed(RIC)[0]?.id ?? ''
  nameless.settle(asked, { type: 'PodFound', data: { ric: RIC, address: E2T, effectId: asked, uid: '' } })
  t.equal(nameless.count('pods', 'name not known'), 1)

  const unreachable = new KeepAliveKit({ kubernetesNamespace: 'ricplt' })
  unreachable.init()
  unreachable.run(3000)
  t.equal(unreachable.instance(), undefined, 'the entry does not wait for it')
  t.equal(unreachable.owed(RIC).length, 1)
  unreachable.run(16_000, 250)
  t.strictSame(unreachable.owed(RIC), [], 'given up with the deletion time-out')
  t.equal(unreachable.count('pods', 'given up'), 1)
})

t.test('without Kubernetes no pod is asked for', async (t) => {
  const kit = new KeepAliveKit()
  kit.init()
  kit.run(2500)
  t.strictSame(kit.owed(RIC), [])
})

t.test('a replay of the journal gives the same state', async (t) => {
  const kit = new KeepAliveKit()
  kit.init()
  kit.setUp()
  kit.answering.set(E2T, 10)
  kit.run(2000)
  kit.answering.clear()
  kit.run(3000)
  t.equal(kit.instance(), undefined)
  t.equal(kit.replayed().digest(), kit.digest())
  t.ok([ransOf, e2tInstances, rans, keyOf].length)
})
