import t from 'tap'
import { MINUTE_MS, PLUGIN, TrustLevelKit } from './test-kit.js'
import type { Condition } from './views.js'

/** What NCMP gets wrong, and what is right here. (trust levels, section 5) */

const NONE: Condition = { kind: 'trustLevel', level: 'NONE' }
const COMPLETE: Condition = { kind: 'trustLevel', level: 'COMPLETE' }

/** A kit whose only handle is registered without its plugin being known in its partition: nothing is known of levels. */
function withUnknownPlugin(): TrustLevelKit {
  const kit = new TrustLevelKit()
  const texts = { moduleSetTag: '', alternateId: '', dataProducerIdentifier: '', cmHandleStatus: '', trustLevel: null }
  const plugins = { dmiPlugin: PLUGIN, dmiDataPlugin: '', dmiModelPlugin: '', dmiDatajobsReadPlugin: '' }
  const created = [{ cmHandle: 'dev-1', ...texts, publicProperties: [], additionalProperties: [] }]
  kit.append('dev-1', {
    type: 'CmHandlesRegistered',
    data: {
      plugins: { ...plugins, dmiDatajobsWritePlugin: '' },
      plugin: null,
      claimId: 'c',
      removed: [],
      created,
      updated: [],
      upgraded: [],
    },
  })
  kit.notices()
  return kit
}

t.test(
  'a change of a plugin of which nothing is known: its handles go from NONE to COMPLETE, with notices',
  async (t) => {
    const kit = withUnknownPlugin()
    t.equal(await kit.level('dev-1'), 'NONE')
    kit.advance(0)
    t.strictSame(kit.notices(), ['dev-1 NONE>COMPLETE plugin'])
    t.equal(await kit.level('dev-1'), 'COMPLETE')
  },
)

t.test('a heartbeat of a handle whose plugin is not known is stored, and is NONE in effect', async (t) => {
  const kit = withUnknownPlugin()
  kit.append('dev-1', {
    type: 'HeartbeatReported',
    data: {
      cmHandle: 'dev-1',
      trustLevel: 'COMPLETE',
      eventTime: kit.time,
      eventTimeSource: 'CE_TIME',
      producer: 'dmi',
      eventType: 'x',
    },
  })
  t.equal(await kit.level('dev-1'), 'NONE')
  t.strictSame(kit.notices(), [])
})

t.test('a search by trust level answers for a handle of which no level is known as the read does', async (t) => {
  const kit = withUnknownPlugin()
  t.equal(await kit.level('dev-1'), 'NONE')
  t.strictSame(await kit.search(NONE), ['dev-1'])
  t.strictSame(await kit.search(COMPLETE), [])
  t.match(await kit.searchViews({ conditions: [] }), [{ cmHandle: 'dev-1', trustLevel: 'NONE' }])
})

t.test('two quick changes of a plugin send right notices', (t) => {
  const kit = new TrustLevelKit()
  kit.register({ created: ['dev-1'] })
  const broadcast = { plugin: PLUGIN, returnNumber: -1, since: kit.time, forgotten: false }
  for (const [trustLevel, number] of [
    ['NONE', 9_000_000_000_000_000],
    ['COMPLETE', 9_000_000_000_000_001],
    ['NONE', 9_000_000_000_000_002],
  ] as const) {
    kit.append('dev-1', { type: 'DmiPluginLevelBroadcast', data: { ...broadcast, trustLevel, number } })
  }
  kit.advance(0)
  t.strictSame(kit.notices(), ['dev-1 COMPLETE>NONE plugin'])
  t.end()
})

t.test(
  'a heartbeat while the plugin is NONE is stored without notice; the return decides by onDmiRestart',
  async (t) => {
    for (const [onDmiRestart, level, notices] of [
      ['keep', 'NONE', []],
      ['complete', 'COMPLETE', ['dev-1 NONE>COMPLETE plugin']],
    ] as const) {
      const kit = new TrustLevelKit({ onDmiRestart })
      kit.register({ created: ['dev-1'] })
      kit.check(false)
      kit.notices()
      kit.heartbeat('dev-1', 'NONE')
      t.strictSame(kit.notices(), [], onDmiRestart)
      kit.check(true)
      t.equal(await kit.level('dev-1'), level, onDmiRestart)
      t.strictSame(kit.notices(), notices, onDmiRestart)
    }
  },
)

t.test('the registration of a known plugin that is down tells each effective change', async (t) => {
  for (const [onDmiRestart, notices] of [
    ['keep', ['dev-1 NONE>COMPLETE plugin']],
    ['complete', ['dev-1 NONE>COMPLETE plugin', 'dev-2 NONE>COMPLETE plugin']],
  ] as const) {
    const kit = new TrustLevelKit({ onDmiRestart })
    kit.register({ created: ['dev-1', { cmHandle: 'dev-2', trustLevel: 'NONE' }] })
    kit.check(false)
    kit.notices()
    kit.register({ created: ['dev-3'] })
    t.strictSame(kit.notices().sort(), notices, onDmiRestart)
  }
})

t.test('a level reported before the registration is not lost', async (t) => {
  const kit = new TrustLevelKit()
  kit.heartbeat('dev-1', 'NONE')
  kit.register({ created: ['dev-1'] })
  t.equal(await kit.level('dev-1'), 'NONE')
})

t.test('a handle removed and registered again begins COMPLETE', async (t) => {
  const kit = new TrustLevelKit()
  kit.register({ created: ['dev-1'] })
  kit.heartbeat('dev-1', 'NONE')
  kit.advance(1_000)
  kit.register({ removed: ['dev-1'] })
  kit.advance(MINUTE_MS)
  kit.notices()
  kit.register({ created: ['dev-1'] })
  t.equal(await kit.level('dev-1'), 'COMPLETE')
  t.strictSame(kit.notices(), [])
  t.strictSame(await kit.search(NONE), [])
})
