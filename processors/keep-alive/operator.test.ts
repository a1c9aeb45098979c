import t from 'tap'
import { keepAliveQueries } from './queries.js'
import { E2T, KeepAliveKit, RAN, RIC } from './test-kit.js'

const ENB = 'enB_shortmacro_208__555540'
const enb = JSON.stringify({ enbType: 'MACRO_ENB', servedCells: [{ cellId: 'a' }] })

function addEnb(kit: KeepAliveKit, ranName = ENB): unknown {
  const data = { ric: RIC, ranName, plmnId: 'def', nbId: 'abc', ip: '', port: 0, enb }
  return kit.when(RIC, { type: 'EnbAdded', data })
}
const update = (kit: KeepAliveKit, ranName: string, nodeType: 'ENB' | 'GNB', configuration: object): unknown =>
  kit.when(RIC, {
    type: 'NodebUpdated',
    data: { ric: RIC, ranName, nodeType, configuration: JSON.stringify(configuration) },
  })
const remove = (kit: KeepAliveKit, ranName: string): unknown =>
  kit.when(RIC, { type: 'EnbDeleted', data: { ric: RIC, ranName } })
const configurationOf = async (kit: KeepAliveKit, ranName: string): Promise<unknown> =>
  JSON.parse((await kit.query(keepAliveQueries.nodeb, RIC, { ric: RIC, ranName }))?.nodeb.configuration ?? 'null')

t.test('an eNB is added once, updated, and deleted', async (t) => {
  const kit = new KeepAliveKit()
  t.strictSame(addEnb(kit), { done: true })
  t.match(kit.ran(ENB), { state: 'DISCONNECTED', stateChangedAt: 0, plmnId: 'def', nbId: 'abc' })
  t.strictSame(addEnb(kit), { done: false, why: 'exists' })
  t.strictSame(update(kit, ENB, 'ENB', { enbType: 'HOME_ENB' }), { done: true })
  t.strictSame(await configurationOf(kit, ENB), { enbType: 'HOME_ENB' })
  t.strictSame(remove(kit, ENB), { done: true })
  t.strictSame(remove(kit, ENB), { done: false, why: 'notFound' })
  t.strictSame(update(kit, ENB, 'ENB', {}), { done: false, why: 'notFound' })
  t.strictSame(kit.sent('ran-manipulation-events'), [`${ENB}_ADDED`, `${ENB}_UPDATED`, `${ENB}_DELETED`])
  t.strictSame(kit.sent('ran-connection-events'), [])
})

t.test('a gNB gets cells and keeps its functions; neither it nor what came over the network is deleted', async (t) => {
  const kit = new KeepAliveKit()
  kit.init()
  kit.setUp()
  t.strictSame(update(kit, RAN, 'GNB', { servedNrCells: [{ nrPci: 1 }] }), { done: true })
  t.match(await configurationOf(kit, RAN), { servedNrCells: [{ nrPci: 1 }], ranFunctions: [{}, {}, {}] })
  t.strictSame(update(kit, RAN, 'ENB', {}), { done: false, why: 'notAllowed' })
  t.strictSame(remove(kit, RAN), { done: false, why: 'notAllowed' })
  addEnb(kit)
  t.strictSame(update(kit, ENB, 'GNB', {}), { done: false, why: 'internal' })
  kit.setUp(ENB, E2T, { nodeType: 'ENB' })
  t.equal(kit.ran(ENB)?.state, 'CONNECTED', 'its first setup need not wait')
  t.match(await configurationOf(kit, ENB), { enbType: 'MACRO_ENB', ranFunctions: [{}, {}, {}] })
  t.strictSame(remove(kit, ENB), { done: false, why: 'notAllowed' })
})

t.test('health is asked of connected RANs among those named, and their answers are noted', async (t) => {
  const kit = new KeepAliveKit()
  kit.init()
  kit.setUp('ran-1')
  kit.setUp('ran-2')
  addEnb(kit)
  kit.sent('e2t-commands')
  const ask = (ranNames: readonly string[] | null): unknown =>
    kit.when(RIC, { type: 'RanHealthAsked', data: { ric: RIC, ranNames } })
  t.strictSame(ask(['nobody', ENB]), { asked: 0 })
  t.strictSame(ask(['ran-2', 'nobody']), { asked: 1 })
  t.strictSame(kit.sent('e2t-commands'), [`12060 {"ranName":"ran-2"} ${E2T}`])
  t.strictSame(ask(null), { asked: 2 })
  kit.run(100)
  kit.when(RIC, { type: 'ServiceUpdated', data: { ric: RIC, ranName: 'ran-2' } })
  kit.when(RIC, { type: 'ServiceUpdated', data: { ric: RIC, ranName: 'nobody' } })
  t.match(kit.ran('ran-2'), { healthAnsweredAt: kit.time, healthAskedAt: kit.time - 100 })
  t.equal(kit.ran('ran-1')?.healthAnsweredAt, 0)
  t.equal(kit.count('unknown_rans', 'service update'), 1)
})
