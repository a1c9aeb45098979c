import t from 'tap'
import type { CmHandleUpdate } from '../../schemas/trust-level/journal-events.js'
import { MINUTE_MS, TrustLevelKit } from './test-kit.js'

const EXISTS = { errorCode: '109', errorText: 'cm-handle already exists' }
const NOT_FOUND = { errorCode: '100', errorText: 'cm handle reference(s) not found' }
const INVALID = { errorCode: '110', errorText: 'cm handle reference has an invalid character(s) in id' }
const NO_FAILURE = { failedCreated: [], failedUpdated: [], failedRemoved: [], failedUpgraded: [] }

t.test('failures are listed by code, and the rest of the batch stands', async (t) => {
  const kit = new TrustLevelKit({}, { partitions: 1 })
  kit.register({ created: ['known'] })
  const answer = kit.register({
    removed: ['gone', 'a/b'],
    created: ['known', 'new', 'twice', 'twice', 'with space', 'line\nbreak', ''],
    updated: [{ cmHandle: 'gone' }, { cmHandle: 'known', cmHandleStatus: 'fine' }, { cmHandle: 'x:y' }],
    upgraded: [
      { cmHandle: 'gone', moduleSetTag: 'b' },
      { cmHandle: 'known', moduleSetTag: 'b' },
    ],
  })
  t.strictSame(answer, {
    failedRemoved: [
      { cmHandle: 'gone', ...NOT_FOUND },
      { cmHandle: 'a/b', ...INVALID },
    ],
    failedCreated: [
      { cmHandle: 'known', ...EXISTS },
      { cmHandle: 'twice', ...EXISTS },
      { cmHandle: 'with space', ...INVALID },
      { cmHandle: 'line\nbreak', ...INVALID },
      { cmHandle: '', ...INVALID },
    ],
    failedUpdated: [
      { cmHandle: 'gone', ...NOT_FOUND },
      { cmHandle: 'x:y', ...INVALID },
    ],
    failedUpgraded: [{ cmHandle: 'gone', ...NOT_FOUND }],
  })
  t.strictSame(await kit.search(), ['known', 'new', 'twice'])
  t.match(await kit.look('known'), { handle: { cmHandleStatus: 'fine', moduleSetTag: 'b' } })
})

t.test('one event folds removed, created, updated, upgraded in this order', async (t) => {
  const kit = new TrustLevelKit()
  kit.register({ created: [{ cmHandle: 'dev-1', moduleSetTag: 'old', cmHandleStatus: 'old' }] })
  const answer = kit.register({
    removed: ['dev-1'],
    created: [{ cmHandle: 'dev-1', moduleSetTag: 'new' }],
    updated: [{ cmHandle: 'dev-1', cmHandleStatus: 'updated' }],
    upgraded: [{ cmHandle: 'dev-1', moduleSetTag: 'upgraded' }],
  })
  t.strictSame(answer, NO_FAILURE)
  t.match(await kit.look('dev-1'), { handle: { cmHandleStatus: 'updated', moduleSetTag: 'upgraded' } })
})

t.test('an update merges properties: null removes one, absent leaves it', async (t) => {
  const kit = new TrustLevelKit()
  const properties = [
    { name: 'a', value: '1' },
    { name: 'b', value: '2' },
  ]
  kit.register({ created: [{ cmHandle: 'dev-1', publicProperties: properties, additionalProperties: properties }] })
  const publicProperties = [
    { name: 'a', value: null },
    { name: 'c', value: '3' },
  ]
  kit.register({ updated: [{ cmHandle: 'dev-1', publicProperties }] })
  const found = await kit.look('dev-1')
  t.strictSame(found.found && found.handle.publicProperties, { b: '2', c: '3' })
  t.strictSame(found.found && found.handle.additionalProperties, { a: '1', b: '2' })
})

t.test('IV-15 a blank alternate id in an update leaves the one there is', async (t) => {
  const kit = new TrustLevelKit()
  kit.register({ created: [{ cmHandle: 'dev-1', alternateId: 'alt/1' }] })
  for (const alternateId of ['', '  ', null]) {
    t.strictSame(kit.register({ updated: [{ cmHandle: 'dev-1', alternateId }] }), NO_FAILURE)
    t.match(await kit.look('dev-1'), { handle: { alternateId: 'alt/1' } })
    t.equal(await kit.byAlternateId('alt/1'), 'dev-1')
  }
})

t.test('an alternate id may be set once, and not be changed', async (t) => {
  const kit = new TrustLevelKit()
  kit.register({ created: ['dev-1'] })
  const set = (alternateId: string): unknown => {
    const change: Partial<CmHandleUpdate> = { alternateId }
    return kit.register({ updated: [{ cmHandle: 'dev-1', ...change }] }).failedUpdated
  }
  t.strictSame(set('alt/1'), [])
  t.strictSame(set('alt/1'), [], 'the same again is no change')
  t.strictSame(set('alt/2'), [{ cmHandle: 'dev-1', ...EXISTS }])
  t.match(await kit.look('dev-1'), { handle: { alternateId: 'alt/1' } })
  t.equal(await kit.byAlternateId('alt/1'), 'dev-1')
  t.equal(await kit.byAlternateId('alt/2'), null, 'what was not given is free again')
  t.equal(kit.register({ created: [{ cmHandle: 'dev-2', alternateId: 'alt/2' }] }).failedCreated.length, 0)
})

t.test('data-sync sets the flag of a known handle', async (t) => {
  const kit = new TrustLevelKit()
  kit.register({ created: ['dev-1'] })
  const set = (cmHandle: string, dataSyncEnabled: boolean): unknown =>
    kit.when(cmHandle, { type: 'DataSyncSet', data: { cmHandle, dataSyncEnabled } })
  t.strictSame(set('dev-1', true), { found: true })
  t.match(await kit.look('dev-1'), { handle: { dataSyncEnabled: true } })
  t.strictSame(set('dev-1', false), { found: true })
  t.match(await kit.look('dev-1'), { handle: { dataSyncEnabled: false } })
  t.strictSame(set('dev-2', true), { found: false })
})

t.test('the time of the last change of state is that of the creation, or of an upgrade', async (t) => {
  const kit = new TrustLevelKit()
  const created = kit.time
  kit.register({ created: ['dev-1'] })
  kit.advance(MINUTE_MS)
  kit.register({ updated: [{ cmHandle: 'dev-1', cmHandleStatus: 'x' }] })
  t.match(await kit.look('dev-1'), { handle: { lastUpdateTime: created } })
  kit.register({ upgraded: [{ cmHandle: 'dev-1', moduleSetTag: 'x' }] })
  t.match(await kit.look('dev-1'), { handle: { lastUpdateTime: kit.time } })
})

t.test('ME-06 handles registered and removed in rounds leave nothing behind, and removals are not told', async (t) => {
  const kit = new TrustLevelKit()
  const ids = Array.from({ length: 300 }, (_, i) => `dev-${i}`)
  for (let round = 0; round < 10; round++) {
    kit.register({ created: ids.map((cmHandle) => ({ cmHandle, alternateId: `alt/${cmHandle}` })) })
    for (const id of ids.slice(0, 10)) kit.heartbeat(id, 'NONE')
    kit.notices()
    t.strictSame(kit.register({ removed: ids, plugins: {} }).failedRemoved, [])
    t.strictSame(kit.notices(), [])
    t.strictSame(await kit.search(), [])
    kit.advance(10 * MINUTE_MS)
    t.equal(kit.digest(), '', `round ${round}`)
  }
})

t.test('folding the same journals again gives the same state and the same outputs', (t) => {
  const kit = new TrustLevelKit()
  kit.register({ created: ['dev-1', { cmHandle: 'dev-2', trustLevel: 'NONE', alternateId: 'alt/2' }] })
  kit.heartbeat('dev-3', 'NONE')
  kit.check(false)
  kit.heartbeat('dev-1', 'NONE')
  kit.check(true)
  kit.register({ removed: ['dev-1'], created: ['dev-3'] })
  const again = kit.replayed()
  t.equal(again.digest(), kit.digest())
  const byPartition = (outputs: typeof kit.outputs): unknown[] =>
    [0, 1, 2].map((partition) => outputs.filter((output) => output.partition === partition))
  t.strictSame(byPartition(again.outputs), byPartition(kit.outputs))
  t.end()
})
