import t from 'tap'
import type { TrustLevel } from '../../schemas/trust-level/journal-events.js'
import { MINUTE_MS, TrustLevelKit } from './test-kit.js'

/** A kit with handles registered, and the notices of that forgotten. */
function registered(...ids: string[]): TrustLevelKit {
  const kit = new TrustLevelKit()
  kit.register({ created: ids })
  kit.advance(MINUTE_MS / 60)
  kit.notices()
  return kit
}

t.test('OR-01 a heartbeat older than a newer one is counted as late and changes nothing', async (t) => {
  const kit = registered('dev-1')
  const start = kit.time
  kit.heartbeat('dev-1', 'NONE', start + 10_000)
  kit.heartbeat('dev-1', 'COMPLETE', start + 5_000)
  t.equal(await kit.level('dev-1'), 'NONE')
  t.equal(kit.count('late_heartbeats'), 1)
  const compared = { eventTime: start + 5_000, known: start + 10_000 }
  t.strictSame(kit.rules.at(-1), { rule: 'older than what is known: changes nothing', compared })
  kit.heartbeat('dev-1', 'COMPLETE', start + 11_000)
  t.equal(await kit.level('dev-1'), 'COMPLETE')
  t.strictSame(kit.notices(), ['dev-1 COMPLETE>NONE heartbeat', 'dev-1 NONE>COMPLETE heartbeat'])
})

t.test('of reports with one event time the later in the journal counts', async (t) => {
  const kit = registered('dev-1')
  kit.heartbeat('dev-1', 'NONE', kit.time)
  kit.heartbeat('dev-1', 'COMPLETE', kit.time)
  t.equal(await kit.level('dev-1'), 'COMPLETE')
})

t.test('OR-05 a report consumed before its registration is taken over by it', async (t) => {
  const kit = new TrustLevelKit()
  const start = kit.time
  kit.heartbeat('dev-1', 'NONE', start + 1_000)
  t.strictSame(await kit.look('dev-1'), { found: false, pendingSince: start })
  kit.register({ created: [{ cmHandle: 'dev-1', trustLevel: 'COMPLETE' }] })
  t.equal(await kit.level('dev-1'), 'NONE')
  t.strictSame(kit.notices(), ['dev-1 >NONE registration'])
  kit.advance(MINUTE_MS)
  const again = kit.register({ created: [{ cmHandle: 'dev-1', trustLevel: 'COMPLETE' }] })
  t.equal(again.failedCreated[0]?.errorCode, '109')
  t.equal(await kit.level('dev-1'), 'NONE')
  t.strictSame(kit.notices(), [])
})

t.test('OR-05 a report that came first is not lost where the plugin is known and up', async (t) => {
  const kit = registered('dev-0')
  kit.heartbeat('dev-1', 'NONE')
  kit.register({ created: ['dev-1'] })
  t.equal(await kit.level('dev-1'), 'NONE')
})

t.test('a pending level does not count where the plugin has returned since', async (t) => {
  for (const [onDmiRestart, level] of [
    ['complete', 'COMPLETE'],
    ['keep', 'NONE'],
  ] as const) {
    const kit = new TrustLevelKit({ onDmiRestart })
    kit.register({ created: ['dev-0'] })
    kit.check(false)
    kit.heartbeat('dev-1', 'NONE')
    kit.register({ created: ['dev-1'] })
    t.equal(await kit.level('dev-1'), level, onDmiRestart)
  }
})

t.test('of pending levels the newest by event time is kept', async (t) => {
  const kit = new TrustLevelKit()
  const start = kit.time
  kit.heartbeat('dev-1', 'NONE', start)
  kit.heartbeat('dev-1', 'COMPLETE', start - 1_000)
  t.equal(kit.count('late_heartbeats'), 1)
  kit.register({ created: ['dev-1'] })
  t.equal(await kit.level('dev-1'), 'NONE')
})

t.test('a pending level stands since the first report of it, also once it is registered', async (t) => {
  const kit = new TrustLevelKit()
  kit.heartbeat('dev-1', 'NONE')
  kit.advance(1_000)
  kit.heartbeat('dev-1', 'COMPLETE')
  const since = kit.time
  kit.advance(1_000)
  kit.heartbeat('dev-1', 'COMPLETE')
  t.strictSame(await kit.look('dev-1'), { found: false, pendingSince: since })
  kit.register({ created: ['dev-1'] })
  t.match(await kit.look('dev-1'), { evidence: { ownLevel: 'COMPLETE', ownSince: since } })
})

t.test('a pending level that nobody registers becomes a dead letter after its time, by its position', async (t) => {
  const kit = new TrustLevelKit()
  kit.heartbeat('dev-1', 'NONE')
  kit.advance(MINUTE_MS)
  kit.heartbeat('dev-1', 'NONE')
  kit.advance(5 * MINUTE_MS - 1)
  t.strictSame(kit.deadLetters, [])
  kit.advance(1)
  t.match(kit.deadLetters, [{ code: 'UNREGISTERED_CM_HANDLE', position: { offset: 1, index: 0 } }])
  t.equal(kit.deadLetters.length, 1)
  t.strictSame(await kit.look('dev-1'), { found: false, pendingSince: null })
  t.equal(kit.count('pending_heartbeats'), 2)
  t.equal(kit.digest(), '')
})

t.test('a registration in time leaves no dead letter', (t) => {
  const kit = new TrustLevelKit()
  kit.heartbeat('dev-1', 'NONE')
  kit.register({ created: ['dev-1'] })
  kit.advance(10 * MINUTE_MS)
  t.strictSame(kit.deadLetters, [])
  t.end()
})

t.test('what was reported before the last removal does not count for a handle registered anew', async (t) => {
  const kit = registered('dev-1')
  kit.advance(10_000)
  kit.register({ removed: ['dev-1'] })
  kit.advance(1_000)
  kit.heartbeat('dev-1', 'NONE', kit.time - 5_000)
  t.match(kit.deadLetters, [{ code: 'UNREGISTERED_CM_HANDLE' }], 'nobody can take it over')
  kit.register({ created: ['dev-1'] })
  t.equal(await kit.level('dev-1'), 'COMPLETE')
  kit.heartbeat('dev-1', 'NONE', kit.time - 5_000)
  t.equal(await kit.level('dev-1'), 'COMPLETE', 'nor does it count after the registration')
  kit.heartbeat('dev-1', 'NONE', kit.time - 500)
  t.equal(await kit.level('dev-1'), 'NONE', 'a report from after the removal does')
})

t.test('what was reported after the removal is pending for the next registration', async (t) => {
  const kit = registered('dev-1')
  kit.register({ removed: ['dev-1'] })
  kit.advance(1_000)
  kit.heartbeat('dev-1', 'NONE')
  kit.register({ created: ['dev-1'] })
  t.equal(await kit.level('dev-1'), 'NONE')
  kit.advance(10 * MINUTE_MS)
  t.equal(await kit.level('dev-1'), 'NONE')
  t.strictSame(kit.deadLetters, [])
})

t.test('TS-01 a report without a time that can be right is taken at arrival, and counted', async (t) => {
  const kit = registered('dev-1')
  const rows = [
    [null, 'MALFORMED', 1],
    [-1, 'RECORD', 2],
    [Date.UTC(1999, 11, 31), 'CE_TIME', 3],
    [null, 'ABSENT', 3],
  ] as const
  for (const [eventTime, eventTimeSource, counted] of rows) {
    kit.advance(1_000)
    kit.heartbeat('dev-1', 'NONE', 0, { eventTime, eventTimeSource })
    const found = await kit.look('dev-1')
    t.match(found, { evidence: { lastHeartbeat: kit.time } })
    t.equal(kit.count('replaced_event_times', 'malformed'), counted)
  }
})

t.test('TS-02 a report dated ten years ahead is taken at arrival and makes nothing late', async (t) => {
  const kit = registered('dev-1', 'dev-2')
  kit.heartbeat('dev-1', 'COMPLETE', kit.time + 10 * 365 * 86_400_000)
  kit.heartbeat('dev-1', 'NONE')
  kit.heartbeat('dev-2', 'NONE')
  t.equal(await kit.level('dev-1'), 'NONE')
  t.equal(await kit.level('dev-2'), 'NONE')
  t.equal(kit.count('replaced_event_times', 'future'), 1)
  t.equal(kit.count('late_heartbeats'), 0)
})

t.test('an event time up to the allowed skew ahead is taken as it is', async (t) => {
  const kit = registered('dev-1')
  kit.heartbeat('dev-1', 'NONE', kit.time + 5 * MINUTE_MS)
  t.match(await kit.look('dev-1'), { evidence: { lastHeartbeat: kit.time + 5 * MINUTE_MS } })
  kit.heartbeat('dev-1', 'COMPLETE', kit.time)
  t.equal(await kit.level('dev-1'), 'NONE')
})

t.test('a report without change is the last heartbeat, but not what decided', async (t) => {
  const kit = registered('dev-1')
  kit.heartbeat('dev-1', 'NONE')
  const first = await kit.look('dev-1')
  kit.advance(MINUTE_MS)
  kit.heartbeat('dev-1', 'NONE')
  const second = await kit.look('dev-1')
  t.ok(first.found && second.found)
  if (!first.found || !second.found) return
  t.equal(second.evidence.lastHeartbeat, kit.time)
  t.equal(second.evidence.ownSince, first.evidence.ownSince)
  t.strictSame(second.evidence.decidedBy, first.evidence.decidedBy)
})

t.test('event types are counted by name, unknown ones as one', (t) => {
  const kit = registered('dev-1')
  for (const eventType of ['org.onap.cm.events.trustlevel-notification', 'a', 'b']) {
    kit.heartbeat('dev-1', 'COMPLETE', undefined, { eventType })
  }
  t.equal(kit.count('heartbeats', 'org.onap.cm.events.trustlevel-notification'), 1)
  t.equal(kit.count('heartbeats', 'other'), 2)
  t.end()
})

t.test('notices are those of NCMP, byte for byte', (t) => {
  const kit = new TrustLevelKit()
  kit.register({ created: [{ cmHandle: 'CH-4', trustLevel: 'NONE' }] })
  kit.heartbeat('CH-4', 'COMPLETE')
  const value = (text: string): string => `{"data":{"attributeValueChange":[{"attributeName":"trustLevel",${text}}]}}`
  t.strictSame(
    kit.outputs.map((output) => [output.topic, output.key, output.value]),
    [
      ['ncmp-inventory-events', 'CH-4', value('"newAttributeValue":"NONE"')],
      ['ncmp-inventory-events', 'CH-4', value('"oldAttributeValue":"NONE","newAttributeValue":"COMPLETE"')],
    ],
  )
  t.strictSame(kit.outputs[0]?.headers, [
    ['ce_source', 'NCMP'],
    ['ce_type', 'org.onap.cps.ncmp.events.avc.ncmp_to_client.AvcEvent'],
    ['ce_dataschema', 'urn:cps:org.onap.cps.ncmp.events:inventory-event:1.0.0'],
    ['ce_correlationid', 'CH-4'],
    ['content-type', 'application/json'],
    ['ce_cause', 'registration'],
  ])
  t.end()
})

t.test('SE-02 ids and property names that plain objects know are as any other', async (t) => {
  const ids = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']
  const kit = new TrustLevelKit()
  const properties = [...ids, 'a'].map((name) => ({ name, value: `value of ${name}` }))
  kit.register({ created: ids.map((cmHandle) => ({ cmHandle, alternateId: '', publicProperties: properties })) })
  for (const id of ids) kit.heartbeat(id, 'NONE')
  for (const id of ids) {
    const found = await kit.look(id)
    t.ok(found.found && found.handle.trustLevel === 'NONE', id)
    const read = found.found ? Object.entries(found.handle.publicProperties) : []
    t.strictSame(
      read,
      properties.map(({ name, value }) => [name, value]),
    )
  }
  t.strictSame(await kit.search({ kind: 'trustLevel', level: 'NONE' }), [...ids].sort())
  for (const name of ids) {
    t.equal((await kit.search({ kind: 'publicProperty', name, value: `value of ${name}` })).length, 4)
  }
  t.strictSame(await kit.search({ kind: 'publicProperty', name: 'valueOf', value: null }), [])
  t.match(await kit.look('valueOf'), { found: false })
  kit.register({
    updated: ids.map((cmHandle) => ({ cmHandle, publicProperties: [{ name: '__proto__', value: null }] })),
  })
  t.strictSame(await kit.search({ kind: 'publicProperty', name: '__proto__', value: null }), [])
  t.strictSame(kit.register({ removed: ids }).failedRemoved, [])
  t.strictSame(await kit.search(), [])
  t.equal(({} as Record<string, unknown>)['value of a'], undefined)
})

t.test('a handle is read while its level is the lower of the two', async (t) => {
  const rows: [TrustLevel, TrustLevel, TrustLevel][] = [
    ['COMPLETE', 'COMPLETE', 'COMPLETE'],
    ['COMPLETE', 'NONE', 'NONE'],
    ['NONE', 'COMPLETE', 'NONE'],
    ['NONE', 'NONE', 'NONE'],
  ]
  for (const [plugin, own, effective] of rows) {
    const kit = registered('dev-1')
    kit.check(plugin === 'COMPLETE')
    kit.heartbeat('dev-1', own)
    t.equal(await kit.level('dev-1'), effective, `plugin ${plugin}, own ${own}`)
  }
})
