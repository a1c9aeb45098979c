import t from 'tap'
import { E2T, E2T_2, KeepAliveKit, RIC } from './test-kit.js'

function withRans(): KeepAliveKit {
  const kit = new KeepAliveKit()
  kit.init(E2T)
  kit.init(E2T_2)
  kit.answering.set(E2T, 10).set(E2T_2, 10)
  kit.setUp('ran-1', E2T)
  kit.setUp('ran-2', E2T_2)
  kit.sent('e2t-commands')
  kit.sent('ran-connection-events')
  kit.calls.length = 0
  return kit
}

t.test('the Red Button shuts all RANs down in two phases', async (t) => {
  const kit = withRans()
  const pressedAt = kit.time
  t.strictSame(kit.pressRedButton(), { due: pressedAt + 5000 })
  t.strictSame(kit.calls, [`POST dissociate-ran [{"E2TAddress":"${E2T}"},{"E2TAddress":"${E2T_2}"}]`])
  t.strictSame(kit.sent('e2t-commands'), ['1090'])
  t.strictSame(kit.sent('ran-connection-events'), ['ran-1_DISCONNECTED', 'ran-2_DISCONNECTED'])
  t.strictSame(await kit.list(), [`${E2T} `, `${E2T_2} `])
  t.strictSame([kit.instance(E2T)?.ranCount, kit.instance(E2T_2)?.ranCount], [0, 0])
  t.match(kit.ran('ran-1'), { state: 'SHUTTING_DOWN', e2tAddress: '' })
  kit.lose('ran-1')
  t.equal(kit.ran('ran-1')?.state, 'SHUT_DOWN', 'a RAN lost in between is shut down already')
  t.equal(kit.calls.length, 1, 'and dissociated')
  t.equal(kit.ran('ran-2')?.state, 'SHUTTING_DOWN')
  kit.run(5000)
  t.equal(kit.ran('ran-2')?.state, 'SHUT_DOWN')
  t.strictSame(kit.sent('ran-connection-events'), [])
})

t.test('pressed again when all is shut down it changes nothing', async (t) => {
  const kit = withRans()
  kit.pressRedButton()
  kit.run(5000)
  t.strictSame(kit.pressRedButton(), { due: 0 })
  t.equal(kit.ran('ran-1')?.state, 'SHUT_DOWN')
  t.strictSame(await kit.list(), [`${E2T} `, `${E2T_2} `])
})

t.test('pressed again before its second phase it only waits for it', async (t) => {
  const kit = withRans()
  const first = kit.pressRedButton()
  kit.run(2000)
  t.strictSame(kit.pressRedButton(), first)
  kit.run(3000)
  t.equal(kit.ran('ran-1')?.state, 'SHUT_DOWN')
})

t.test('without instances all RANs are shut down at once', async (t) => {
  const kit = withRans()
  kit.answering.clear()
  kit.run(3000)
  t.strictSame(await kit.list(), [])
  t.equal(kit.ran('ran-1')?.state, 'DISCONNECTED')
  t.strictSame(kit.pressRedButton(), { due: 0 })
  t.equal(kit.ran('ran-1')?.state, 'SHUT_DOWN')
  t.strictSame(kit.sent('e2t-commands'), [])
})

t.test('a RAN that is shut down comes back with a setup, at once', async (t) => {
  const kit = withRans()
  kit.pressRedButton()
  kit.run(5000)
  kit.sent('ran-connection-events')
  kit.setUp('ran-1', E2T)
  t.match(kit.ran('ran-1'), { state: 'CONNECTED', e2tAddress: E2T })
  t.strictSame(kit.sent('ran-connection-events'), ['ran-1_CONNECTED'])
  kit.lose('ran-2')
  t.equal(kit.ran('ran-2')?.state, 'SHUT_DOWN', 'a lost connection changes nothing')
})

t.test('calls on single RANs that are still owed make way for the one on all', async (t) => {
  const kit = withRans()
  kit.routingManager = 'away'
  kit.setUp('ran-3', E2T)
  kit.pressRedButton()
  t.match(await kit.owedCalls(), [{ ric: RIC, e2tAddress: '', purpose: 'dissociate' }])
})

t.test('a RAN set up while the dissociation of all is still owed is associated after it', async (t) => {
  const kit = withRans()
  kit.routingManager = 'away'
  kit.pressRedButton()
  kit.run(5000)
  kit.setUp('ran-1', E2T)
  const [all, associate] = kit.owed(RIC)
  t.match([all?.payload, associate?.payload], [{ path: 'dissociate-ran' }, { path: 'associate-ran-to-e2t' }])
  t.equal(associate?.target, all?.target, 'one at a time, in order')
  kit.routingManager = 'up'
  kit.callRoutingManager()
  kit.setUp('ran-2', E2T_2)
  t.equal(kit.calls.at(-1), `POST associate-ran-to-e2t [{"E2TAddress":"${E2T_2}","ranNamelist":["ran-2"]}]`)
})
