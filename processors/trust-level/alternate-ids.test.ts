import t from 'tap'
import type { AlternateIdsAnswer } from '../../schemas/trust-level/journal-events.js'
import { TrustLevelKit } from './test-kit.js'

const ALTERNATE = 'alt/1'

function claim(kit: TrustLevelKit, claimId: string, ...cmHandles: string[]): AlternateIdsAnswer {
  const claims = cmHandles.map((cmHandle) => ({ alternateId: ALTERNATE, cmHandle }))
  return kit.when(ALTERNATE, { type: 'AlternateIdsClaimed', data: { claims, claimId } }) as AlternateIdsAnswer
}

t.test('of two handles in one batch with one alternate id the first wins', async (t) => {
  const kit = new TrustLevelKit()
  kit.register({
    created: [
      { cmHandle: 'dev-1', alternateId: ALTERNATE },
      { cmHandle: 'dev-2', alternateId: ALTERNATE },
    ],
  })
  t.equal(await kit.byAlternateId(ALTERNATE), 'dev-1')
  t.match(await kit.look('dev-2'), { found: false })
})

t.test('two callers are never both told yes', (t) => {
  const kit = new TrustLevelKit()
  t.strictSame(claim(kit, 'c1', 'dev-1').refused, [])
  t.strictSame(claim(kit, 'c2', 'dev-2').refused, [{ alternateId: ALTERNATE, cmHandle: 'dev-2' }])
  t.strictSame(claim(kit, 'c1', 'dev-1').refused, [], 'a handle may claim again what it has claimed')
  t.end()
})

t.test('what is said of a handle that has it no more takes an alternate id from nobody', async (t) => {
  const kit = new TrustLevelKit()
  kit.register({ created: [{ cmHandle: 'dev-2', alternateId: ALTERNATE }] })
  for (const claimId of ['', 'old']) {
    const data = { alternateId: ALTERNATE, cmHandle: 'dev-1', claimId, held: false }
    kit.when(ALTERNATE, { type: 'AlternateIdSettled', data })
    t.equal(await kit.byAlternateId(ALTERNATE), 'dev-2')
  }
})

t.test('a claim that stays open is settled by a question after 30 s', async (t) => {
  const kit = new TrustLevelKit()
  claim(kit, 'c1', 'dev-1')
  kit.advance(29_999)
  t.equal(await kit.byAlternateId(ALTERNATE), 'dev-1')
  kit.advance(1)
  t.equal(await kit.byAlternateId(ALTERNATE), null)
  t.equal(kit.count('denied_claims'), 1)
  t.strictSame(claim(kit, 'c2', 'dev-2').refused, [])
  kit.advance(30_000)
  kit.advance(24 * 3_600_000)
  t.equal(kit.digest(), '', 'nothing is left of it')
})

t.test('a registration that comes after its claim was given up does not get the alternate id', async (t) => {
  const kit = new TrustLevelKit()
  t.equal(kit.claim([{ cmHandle: 'dev-1', alternateId: ALTERNATE }], 'claim-1').size, 0)
  kit.advance(30_000)
  claim(kit, 'other', 'dev-2')
  const late = { cmHandle: 'dev-1', alternateId: ALTERNATE }
  const plugins = { dmiPlugin: 'http://dmi-1', dmiDataPlugin: '', dmiModelPlugin: '', dmiDatajobsReadPlugin: '' }
  const texts = { moduleSetTag: '', dataProducerIdentifier: '', cmHandleStatus: '', trustLevel: null }
  const properties = { publicProperties: [], additionalProperties: [] }
  const answer = kit.when('dev-1', {
    type: 'CmHandlesRegistered',
    data: {
      plugins: { ...plugins, dmiDatajobsWritePlugin: '' },
      plugin: null,
      claimId: 'claim-1',
      removed: [],
      created: [{ ...late, ...texts, ...properties }],
      updated: [],
      upgraded: [],
    },
  })
  t.match(answer, { failedCreated: [{ cmHandle: 'dev-1', errorCode: '108' }] })
  t.equal(await kit.byAlternateId(ALTERNATE), 'dev-2')
  t.match(await kit.look('dev-1'), { found: false })
})

t.test('a question about a claim whose handle has the alternate id confirms it', async (t) => {
  const kit = new TrustLevelKit()
  kit.register({ created: [{ cmHandle: 'dev-1', alternateId: ALTERNATE }] })
  claim(kit, 'c2', 'dev-1')
  kit.advance(60_000)
  t.equal(await kit.byAlternateId(ALTERNATE), 'dev-1')
  t.equal(kit.count('denied_claims'), 0)
})

t.test('a failed creation gives back only what its own claim holds', async (t) => {
  const kit = new TrustLevelKit()
  kit.register({ created: [{ cmHandle: 'dev-1', alternateId: ALTERNATE }] })
  const again = kit.register({ created: [{ cmHandle: 'dev-1', alternateId: ALTERNATE }] })
  t.equal(again.failedCreated[0]?.errorCode, '109')
  t.equal(await kit.byAlternateId(ALTERNATE), 'dev-1')
  const other = kit.register({ created: [{ cmHandle: 'dev-1', alternateId: 'alt/2' }] })
  t.equal(other.failedCreated[0]?.errorCode, '109')
  t.equal(await kit.byAlternateId('alt/2'), null)
})

t.test('the removal of a handle frees its alternate id', async (t) => {
  const kit = new TrustLevelKit()
  kit.register({ created: [{ cmHandle: 'dev-1', alternateId: ALTERNATE }] })
  kit.register({ removed: ['dev-1'] })
  t.equal(await kit.byAlternateId(ALTERNATE), null)
  t.strictSame(kit.register({ created: [{ cmHandle: 'dev-2', alternateId: ALTERNATE }] }).failedCreated, [])
  t.equal(await kit.byAlternateId(ALTERNATE), 'dev-2')
})

t.test('a handle removed and created in one event keeps its alternate id all the time', async (t) => {
  const kit = new TrustLevelKit()
  kit.register({ created: [{ cmHandle: 'dev-1', alternateId: ALTERNATE }] })
  kit.register({ removed: ['dev-1'], created: [{ cmHandle: 'dev-1', alternateId: ALTERNATE }] })
  kit.advance(60_000)
  t.equal(await kit.byAlternateId(ALTERNATE), 'dev-1')
  t.match(await kit.look('dev-1'), { handle: { alternateId: ALTERNATE } })
})

t.test('a release leaves a newer claim of the same handle open', async (t) => {
  const kit = new TrustLevelKit()
  kit.register({ created: [{ cmHandle: 'dev-1', alternateId: ALTERNATE }] })
  claim(kit, 'newer', 'dev-1')
  kit.register({ removed: ['dev-1'] })
  t.equal(await kit.byAlternateId(ALTERNATE), 'dev-1')
  t.strictSame(claim(kit, 'foreign', 'dev-2').refused.length, 1)
  kit.advance(30_000)
  t.equal(await kit.byAlternateId(ALTERNATE), null, 'until its timer ends it')
})
