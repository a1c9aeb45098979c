import t from 'tap'
import type { CmHandlesRegistered } from '../../schemas/trust-level/journal-events.js'
import { testApi } from '../test-api.js'
import type { TestApi } from '../test-api.js'

const PLUGIN = 'http://dmi-1:8080'

interface Answer {
  readonly status: number
  readonly body: unknown
}

async function post(api: TestApi, payload: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const answer = await api.server.app.inject({
    method: 'POST',
    url: '/ncmpInventory/v1/ch',
    payload: JSON.stringify(payload),
    headers: { 'content-type': 'application/json', ...headers },
  })
  return { status: answer.statusCode, body: answer.body === '' ? '' : answer.json() }
}

const failures = (lists: Record<string, unknown[]>): object => ({
  failedCreatedCmHandles: [],
  failedUpdatedCmHandles: [],
  failedRemovedCmHandles: [],
  failedUpgradeCmHandles: [],
  ...lists,
})
const exists = (cmHandle: string): object => ({ cmHandle, errorCode: '109', errorText: 'cm-handle already exists' })
const unknown = (cmHandle: string): object => ({
  cmHandle,
  errorCode: '100',
  errorText: 'cm handle reference(s) not found',
})
const invalidId = (cmHandle: string): object => ({
  cmHandle,
  errorCode: '110',
  errorText: 'cm handle reference has an invalid character(s) in id',
})

t.test('a registration settles the plugin first, then removes, claims, creates, updates and upgrades', async (t) => {
  const api = await testApi(t, { partitions: 1 })
  await post(api, { dmiPlugin: PLUGIN, createdCmHandles: [{ cmHandle: 'old' }, { cmHandle: 'kept' }] })
  api.streams.commands.length = 0
  const answer = await post(
    api,
    {
      dmiPlugin: PLUGIN,
      upgradedCmHandles: { cmHandles: ['kept'], moduleSetTag: 'm2' },
      updatedCmHandles: [{ cmHandle: 'kept', publicCmHandleProperties: { a: 1 }, trustLevel: 'NONE' }],
      createdCmHandles: [{ cmHandle: 'new', alternateId: 'alt', trustLevel: 'NONE' }],
      removedCmHandles: ['old'],
    },
    { 'idempotency-key': 'request-1', 'x-pulsefold-actor': 'op' },
  )
  t.strictSame(answer, { status: 200, body: '' })
  t.strictSame(
    api.streams.commands.map(({ event, options }) => [event.type, options.commandId, options.actor]),
    [
      ['DmiPluginRegistered', 'request-1/plugin', 'op'],
      ['CmHandlesRegistered', 'request-1/removed/0/0', 'op'],
      ['AlternateIdsClaimed', 'request-1/claims/0/0', 'op'],
      ['CmHandlesRegistered', 'request-1/handles/0/0', 'op'],
      ['CmHandlesRegistered', 'request-1/claimed/0/0', 'op'],
    ],
  )
  t.match(api.streams.commands.at(-1)?.event.data, {
    created: [{ cmHandle: 'new', alternateId: 'alt', trustLevel: 'NONE' }],
  })
  t.match(api.streams.commands.at(-2)?.event.data, {
    plugin: { plugin: PLUGIN, trustLevel: 'COMPLETE' },
    claimId: 'request-1',
    created: [],
    updated: [
      {
        cmHandle: 'kept',
        publicProperties: [{ name: 'a', value: '1' }],
        additionalProperties: null,
        alternateId: null,
      },
    ],
    upgraded: [{ cmHandle: 'kept', moduleSetTag: 'm2' }],
  })
  t.equal(api.streams.handles.get('kept')?.moduleSetTag, 'm2')
})

t.test('one id removed and created in one request is there afterwards', async (t) => {
  const api = await testApi(t)
  await post(api, {
    dmiPlugin: PLUGIN,
    createdCmHandles: [{ cmHandle: 'dev-1', moduleSetTag: 'old', alternateId: 'alt' }],
  })
  const again = {
    dmiPlugin: PLUGIN,
    removedCmHandles: ['dev-1'],
    createdCmHandles: [
      { cmHandle: 'dev-1', moduleSetTag: 'new' },
      { cmHandle: 'dev-2', alternateId: 'alt' },
    ],
  }
  t.equal((await post(api, again)).status, 200)
  t.equal(api.streams.handles.get('dev-1')?.moduleSetTag, 'new')
  t.equal(api.streams.handles.get('dev-2')?.alternateId, 'alt')
})

t.test('scalars become text, blanks "", and unknown members are ignored', async (t) => {
  const api = await testApi(t)
  const answer = await post(api, {
    dmiPlugin: PLUGIN,
    other: {},
    createdCmHandles: [
      {
        cmHandle: 7,
        publicCmHandleProperties: { segmentId: 1, on: true, rate: 1.5, none: null, constructor: 'c' },
        cmHandleProperties: null,
        moduleSetTag: '  ',
        alternateId: ' a ',
        cmHandleStatus: null,
        unknown: [1],
      },
    ],
    updatedCmHandles: null,
  })
  t.equal(answer.status, 200)
  t.match(api.streams.handles.get('7'), {
    publicProperties: { segmentId: '1', on: 'true', rate: '1.5', constructor: 'c' },
    additionalProperties: {},
    moduleSetTag: '',
    alternateId: 'a',
    cmHandleStatus: '',
  })
  t.notOk(Object.hasOwn(api.streams.handles.get('7')?.publicProperties ?? {}, 'none'))
  t.strictSame(await post(api, { notAdmiPlugin: '' }), { status: 200, body: '' })
})

t.test('an upgrade sets the tag as a creation does, without blanks around it', async (t) => {
  const api = await testApi(t)
  await post(api, { dmiPlugin: PLUGIN, createdCmHandles: [{ cmHandle: 'dev-1', moduleSetTag: ' m1 ' }] })
  t.equal(api.streams.handles.get('dev-1')?.moduleSetTag, 'm1')
  await post(api, { dmiPlugin: PLUGIN, upgradedCmHandles: { cmHandles: ['dev-1'], moduleSetTag: ' m2 ' } })
  t.equal(api.streams.handles.get('dev-1')?.moduleSetTag, 'm2')
})

t.test('a handle updated twice in one request may name its alternate id twice', async (t) => {
  const api = await testApi(t)
  await post(api, { dmiPlugin: PLUGIN, createdCmHandles: [{ cmHandle: 'dev-1' }] })
  const updatedCmHandles = [
    { cmHandle: 'dev-1', alternateId: 'alt', publicCmHandleProperties: { a: '1' } },
    { cmHandle: 'dev-1', alternateId: 'alt', publicCmHandleProperties: { b: '2' } },
  ]
  t.strictSame(await post(api, { dmiPlugin: PLUGIN, updatedCmHandles }), { status: 200, body: '' })
  t.match(api.streams.handles.get('dev-1'), { alternateId: 'alt', publicProperties: { a: '1', b: '2' } })
})

t.test('handles that fail are listed, the rest stands', async (t) => {
  const api = await testApi(t)
  await post(api, { dmiPlugin: PLUGIN, createdCmHandles: [{ cmHandle: 'dev-1', alternateId: 'taken' }] })
  const answer = await post(api, {
    dmiPlugin: PLUGIN,
    createdCmHandles: [
      { cmHandle: 'dev-1' },
      { cmHandle: 'dev-2', alternateId: 'alt-2' },
      { cmHandle: 'dev-2' },
      { cmHandle: 'dev-3', alternateId: 'alt-2' },
      { cmHandle: 'dev 4' },
      { cmHandle: 'x'.repeat(256) },
      { cmHandle: '' },
      { cmHandle: 'dev-6', alternateId: 'y'.repeat(2049) },
      { cmHandle: 'dev-7', alternateId: 'line\nbreak' },
      { cmHandle: 'dev-8', cmHandleProperties: { big: 'x'.repeat(300_000) } },
    ],
    updatedCmHandles: [{ cmHandle: 'nobody' }, { cmHandle: 'a=b' }],
    removedCmHandles: ['gone', 'a/b'],
    upgradedCmHandles: { cmHandles: ['nobody', 'a:b'], moduleSetTag: 'm' },
  })
  t.equal(answer.status, 500)
  const body = answer.body as Record<string, { cmHandle: string }[]>
  const sorted = Object.fromEntries(
    Object.entries(body).map(([name, list]) => [name, list.sort((a, b) => (a.cmHandle < b.cmHandle ? -1 : 1))]),
  )
  const unfit = (cmHandle: string, errorText: string): object => ({ cmHandle, errorCode: '108', errorText })
  t.strictSame(
    sorted,
    failures({
      failedCreatedCmHandles: [
        invalidId(''),
        invalidId('dev 4'),
        exists('dev-1'),
        exists('dev-2'),
        exists('dev-3'),
        unfit('dev-6', 'alternate id is longer than 2048 characters'),
        unfit('dev-7', 'alternate id has control characters or is not Unicode text'),
        unfit('dev-8', 'cm handle is larger than 262144 bytes'),
        invalidId('x'.repeat(256)),
      ],
      failedUpdatedCmHandles: [invalidId('a=b'), unknown('nobody')],
      failedRemovedCmHandles: [invalidId('a/b'), unknown('gone')],
      failedUpgradeCmHandles: [invalidId('a:b'), unknown('nobody')],
    }),
  )
  t.equal(api.streams.handles.get('dev-2')?.alternateId, 'alt-2')
})

t.test('each character that no id may have is refused, others are not', async (t) => {
  const api = await testApi(t)
  const listed = '=!" #$%&\'()*+,./\\:;<>?@[]^`{|}~'
  const forbidden = [...listed.split(''), '\u0000', '\n', '\u001b', '\ud800']
  const allowed = ['a-b', 'a_b', 'A9', 'ä', '网', 'a\u200fb']
  const createdCmHandles = [
    ...forbidden.map((c) => ({ cmHandle: `a${c}b` })),
    ...allowed.map((cmHandle) => ({ cmHandle })),
  ]
  const answer = await post(api, { dmiPlugin: PLUGIN, createdCmHandles })
  t.strictSame(answer.body, failures({ failedCreatedCmHandles: forbidden.map((c) => invalidId(`a${c}b`)) }))
  t.strictSame([...api.streams.handles.keys()].sort(), [...allowed].sort())
})

t.test('an alternate id that another handle has is 109; one whose holder has gone is waited for', async (t) => {
  const api = await testApi(t)
  await post(api, { dmiPlugin: PLUGIN, createdCmHandles: [{ cmHandle: 'dev-1', alternateId: 'held' }] })
  api.streams.alternateIds.set('leaving', 'removed-a-moment-ago')
  const pending = post(api, {
    dmiPlugin: PLUGIN,
    createdCmHandles: [
      { cmHandle: 'dev-2', alternateId: 'held' },
      { cmHandle: 'dev-3', alternateId: 'leaving' },
    ],
    updatedCmHandles: [{ cmHandle: 'dev-1', alternateId: 'held' }],
  })
  const hold = api.streams.hold
  api.streams.hold = () => {
    const asked = api.streams.commands.filter(({ event }) => event.type === 'AlternateIdsClaimed').length
    if (asked > 4) api.streams.alternateIds.delete('leaving')
    return hold()
  }
  t.strictSame((await pending).body, failures({ failedCreatedCmHandles: [exists('dev-2')] }))
  t.equal(api.streams.handles.get('dev-3')?.alternateId, 'leaving')
  t.notOk(api.streams.handles.has('dev-2'))
})

t.test('one handle that names two alternate ids fails only where another has the one named', async (t) => {
  const api = await testApi(t)
  await post(api, { dmiPlugin: PLUGIN, createdCmHandles: [{ cmHandle: 'dev-1', alternateId: 'held' }] })
  const answer = await post(api, {
    dmiPlugin: PLUGIN,
    createdCmHandles: [{ cmHandle: 'dev-2', alternateId: 'free' }],
    updatedCmHandles: [{ cmHandle: 'dev-2', alternateId: 'held' }],
  })
  t.strictSame(answer.body, failures({ failedUpdatedCmHandles: [exists('dev-2')] }))
  t.equal(api.streams.handles.get('dev-2')?.alternateId, 'free')
})

t.test('a repeat whose first claim was refused goes on to the one that was granted', async (t) => {
  const api = await testApi(t)
  await post(api, { dmiPlugin: PLUGIN, createdCmHandles: [{ cmHandle: 'dev-1' }] })
  api.streams.alternateIds.set('moved', 'removed-by-then')
  api.streams.commands.length = 0
  const hold = api.streams.hold
  api.streams.hold = () => {
    // What the first request has led to, seen after the first claim's old answer.
    const dev1 = api.streams.handles.get('dev-1')
    if (dev1 !== undefined && api.streams.openQueries > 0) {
      api.streams.handles.set('dev-1', { ...dev1, alternateId: 'moved' })
      api.streams.alternateIds.set('moved', 'dev-1')
    }
    return hold()
  }
  const update = { dmiPlugin: PLUGIN, updatedCmHandles: [{ cmHandle: 'dev-1', alternateId: 'moved' }] }
  t.strictSame(await post(api, update, { 'idempotency-key': 'again' }), { status: 200, body: '' })
})

t.test('IV-15 a blank or absent alternate id in an update leaves the stored one', async (t) => {
  const api = await testApi(t)
  await post(api, { dmiPlugin: PLUGIN, createdCmHandles: [{ cmHandle: 'dev-1', alternateId: 'alt/1' }] })
  for (const update of [{ alternateId: '' }, { alternateId: '   ' }, { alternateId: null }, {}]) {
    const answer = await post(api, { dmiPlugin: PLUGIN, updatedCmHandles: [{ cmHandle: 'dev-1', ...update }] })
    t.equal(answer.status, 200)
    const found = await api.server.app.inject('/ncmp/v1/ch/alt%2F1')
    t.match(found.json(), { cmHandle: 'dev-1', alternateId: 'alt/1' })
  }
  const blanks = { dataProducerIdentifier: '', cmHandleStatus: ' ' }
  await post(api, { dmiPlugin: PLUGIN, updatedCmHandles: [{ cmHandle: 'dev-1', ...blanks }] })
  const unchanged = { dataProducerIdentifier: null, cmHandleStatus: null }
  t.match(api.streams.commands.at(-1)?.event.data, { updated: [unchanged] }, 'so does any other blank text')
})

t.test('null removes a property in an update, absent properties stay', async (t) => {
  const api = await testApi(t)
  const properties = { a: '1', b: '2' }
  await post(api, {
    dmiPlugin: PLUGIN,
    createdCmHandles: [{ cmHandle: 'dev-1', publicCmHandleProperties: properties }],
  })
  await post(api, {
    dmiPlugin: PLUGIN,
    updatedCmHandles: [{ cmHandle: 'dev-1', publicCmHandleProperties: { a: null, c: 3 } }],
  })
  t.strictSame(api.streams.handles.get('dev-1')?.publicProperties, { b: '2', c: '3' })
})

t.test('plugin addresses are normalised, and refused by name of the member', async (t) => {
  const api = await testApi(t)
  const created = { createdCmHandles: [{ cmHandle: 'dev-1' }] }
  await post(api, { dmiDataPlugin: 'HTTP://Dmi-Data:8080/', dmiModelPlugin: 'http://dmi-model:80/', ...created })
  t.match(api.streams.handles.get('dev-1'), {
    dmiDataPlugin: 'http://dmi-data:8080',
    dmiModelPlugin: 'http://dmi-model',
  })
  t.match(api.streams.commands[0]?.to, { key: 'http://dmi-data:8080' })
  const members = ['dmiPlugin', 'dmiDataPlugin', 'dmiModelPlugin', 'dmiDatajobsReadPlugin', 'dmiDatajobsWritePlugin']
  for (const member of members) {
    for (const address of ['ftp://x', 'no url', 'http://user:secret@host/', 'http://169.254.169.254/', '//host']) {
      const answer = await post(api, { [member]: address, ...created })
      t.equal(answer.status, 400, `${member} ${address}`)
      t.match(answer.body, { status: '400 BAD_REQUEST', message: new RegExp(member), details: new RegExp(member) })
      t.notMatch(JSON.stringify(answer.body), /secret/)
    }
  }
})

t.test('what is no registration is refused as a whole', async (t) => {
  const api = await testApi(t)
  const cases: readonly (readonly [body: unknown, details: RegExp])[] = [
    [[], /body is not an object/],
    [null, /body is not an object/],
    ['x', /body is not an object/],
    [{ createdCmHandles: {} }, /createdCmHandles is not a list/],
    [{ createdCmHandles: ['x'] }, /createdCmHandles\[0\] is not an object/],
    [{ createdCmHandles: [{}] }, /createdCmHandles\[0\]\.cmHandle is required/],
    [{ createdCmHandles: [{ cmHandle: 'a', trustLevel: 'POOR' }] }, /createdCmHandles\[0\]\.trustLevel/],
    [
      { createdCmHandles: [{ cmHandle: 'a', publicCmHandleProperties: [] }] },
      /publicCmHandleProperties is not an object/,
    ],
    [{ createdCmHandles: [{ cmHandle: 'a', publicCmHandleProperties: { x: {} } }] }, /is not a text/],
    [{ createdCmHandles: [{ cmHandle: ['a'] }] }, /is not a text/],
    [{ updatedCmHandles: [{ cmHandle: 'a', trustLevel: 'none' }] }, /updatedCmHandles\[0\]\.trustLevel/],
    [{ removedCmHandles: [null] }, /removedCmHandles\[0\] is required/],
    [{ upgradedCmHandles: [] }, /upgradedCmHandles is not an object/],
    [{ upgradedCmHandles: {} }, /upgradedCmHandles\.cmHandles is required/],
    [{ dmiPlugin: {} }, /dmiPlugin is not a text/],
    [{ createdCmHandles: [{ cmHandle: 'a' }] }, /No DMI plugin service names/],
  ]
  for (const [body, details] of cases) {
    const answer = await post(api, body)
    t.equal(answer.status, 400, JSON.stringify(body))
    t.match(answer.body, { status: '400 BAD_REQUEST', details }, JSON.stringify(body))
  }
  t.strictSame(api.streams.commands, [])
})

t.test('handles without an answer in time are listed with 108', async (t) => {
  const api = await testApi(t, { partitions: 2 })
  const body = { dmiPlugin: PLUGIN, createdCmHandles: [...Array(20).keys()].map((i) => ({ cmHandle: `dev-${i}` })) }
  api.streams.commandFailure = (event) => (event.type === 'CmHandlesRegistered' ? 'outcomeOpen' : null)
  const open = await post(api, body, { 'idempotency-key': 'key-3' })
  t.equal(open.status, 500)
  const listed = (open.body as { failedCreatedCmHandles: object[] }).failedCreatedCmHandles
  t.equal(listed.length, 20)
  t.match(listed[0], { errorCode: '108', errorText: /Idempotency-Key key-3/ })

  api.streams.commandFailure = (event) => (event.type === 'DmiPluginRegistered' ? 'unavailable' : null)
  const unheard = await post(api, { ...body, removedCmHandles: ['a'], upgradedCmHandles: { cmHandles: ['b'] } })
  t.match(unheard.body, {
    failedRemovedCmHandles: [{ errorCode: '108' }],
    failedUpgradeCmHandles: [{ errorCode: '108' }],
  })
  t.equal((await post(api, { dmiPlugin: PLUGIN })).status, 503)

  api.streams.commandFailure = (event) => (event.type === 'AlternateIdsClaimed' ? 'outcomeOpen' : null)
  const claims = {
    dmiPlugin: PLUGIN,
    createdCmHandles: [{ cmHandle: 'dev-a', alternateId: 'a' }, { cmHandle: 'dev-b' }],
  }
  t.match((await post(api, claims)).body, { failedCreatedCmHandles: [{ cmHandle: 'dev-a', errorCode: '108' }] })
  t.ok(api.streams.handles.has('dev-b'))
  t.notOk(api.streams.handles.has('dev-a'))
})

t.test('large requests go in bounded parts, in order in each partition', async (t) => {
  const api = await testApi(t, { partitions: 2 })
  const ids = [...Array(1000).keys()].map((i) => `dev-${i}`)
  await post(api, { dmiPlugin: PLUGIN, createdCmHandles: ids.map((cmHandle) => ({ cmHandle })) })
  const parts = api.streams.commands.filter(({ event }) => event.type === 'CmHandlesRegistered')
  const sizes = parts.map(({ event }) => (event.data as CmHandlesRegistered).created.length)
  t.ok(sizes.every((size) => size <= 200))
  t.equal(
    sizes.reduce((sum, size) => sum + size),
    1000,
  )
  const big = { a: 'x'.repeat(150_000) }
  await post(api, {
    dmiPlugin: PLUGIN,
    updatedCmHandles: ids.slice(0, 6).map((cmHandle) => ({ cmHandle, publicCmHandleProperties: big })),
  })
  const last = api.streams.commands.at(-1)?.event.data as CmHandlesRegistered
  t.ok(JSON.stringify(last).length < 1_000_000)
})
