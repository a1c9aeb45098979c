import t from 'tap'
import { ADDRESS_LIMIT } from './commands.js'
import { AddressHealthKit, defaults, PLATFORM, SECOND_MS } from './test-kit.js'

t.test('a platform is created once, shown with its parameters and addresses, and deleted', async (t) => {
  const kit = new AddressHealthKit()
  const created = kit.create(['a1', 'a2'], { retryAttempts: 7 })
  t.match(created, {
    ok: true,
    platform: {
      name: PLATFORM,
      ...defaults,
      retryAttempts: 7,
      addresses: [
        { position: 0, address: 'a1', state: 'ACTIVE', since: kit.time, window: { calls: 0, failed: 0 } },
        { position: 1, address: 'a2', retry: { successes: 0, nextAt: null } },
      ],
    },
  })
  t.match(kit.create(['a3']), { ok: false, code: 'PLATFORM_EXISTS' })
  t.match(kit.delete(), { ok: true })
  t.match(kit.delete(), { ok: false, code: 'PLATFORM_NOT_FOUND' })
  t.equal(kit.digest(), '', 'nothing is left')
})

t.test('an update changes what it names and leaves the rest', async (t) => {
  const kit = new AddressHealthKit()
  kit.create(['a1'])
  t.match(kit.update({ selectionMode: 'LOAD_SHARE', detectThreshold: 0.75 }), {
    ok: true,
    platform: { ...defaults, selectionMode: 'LOAD_SHARE', detectThreshold: 0.75 },
  })
})

t.test('row 25 repair of an address that is not FAILED is refused and changes nothing', async (t) => {
  const kit = new AddressHealthKit()
  kit.create(['a1'])
  const before = kit.digest()
  t.match(kit.operate('repair'), { ok: false, code: 'INVALID_STATE', message: 'repair: the address is active' })
  t.match(kit.operate('activate'), { ok: false, code: 'INVALID_STATE' })
  t.equal(kit.digest(), before)
  kit.operate('deactivate')
  t.match(kit.operate('repair'), { ok: false, code: 'INVALID_STATE', message: 'repair: the address is inactive' })
  t.match(kit.operate('deactivate'), { ok: false, code: 'INVALID_STATE' })
})

t.test('a FAILED address cannot be activated: it must be repaired', async (t) => {
  const kit = new AddressHealthKit()
  kit.create(['a1'])
  kit.fail('a1')
  t.match(kit.operate('activate'), { ok: false, code: 'INVALID_STATE' })
  t.equal(kit.state('a1'), 'FAILED')
})

t.test('row 26 what an address is follows it when positions shift', async (t) => {
  const kit = new AddressHealthKit()
  kit.create(['a1', 'a2'])
  kit.fail('a2')
  t.strictSame(kit.alarms(), ['raised voicemail/2 THRESHOLD 1/1'])
  kit.calls('a1', 3, 1)
  t.match(kit.add('a0', 0), { ok: true, platform: { addresses: [{ address: 'a0' }, { address: 'a1' }, {}] } })
  t.match((await kit.platform()).addresses, [
    { position: 0, address: 'a0', state: 'ACTIVE', window: { calls: 0 } },
    { position: 1, address: 'a1', state: 'ACTIVE', window: { calls: 3, failed: 1 } },
    { position: 2, address: 'a2', state: 'FAILED' },
  ])
  kit.operate('remove', 0)
  kit.operate('remove', 0)
  t.match((await kit.platform()).addresses, [{ position: 0, address: 'a2', state: 'FAILED' }])
  kit.operate('repair', 0)
  t.match(kit.alarms(), [
    'raised voicemail NO_ADDRESS',
    'cleared voicemail/2 MANUAL_REPAIR 1/1',
    'cleared voicemail NO_ADDRESS',
  ])
})

t.test('row 26 a caller who names the address is told when another stands there by now', async (t) => {
  const kit = new AddressHealthKit()
  kit.create(['a1', 'a2'])
  kit.operate('remove', 0)
  t.match(kit.operate('remove', 0, 'a1'), { ok: false, code: 'ADDRESS_MOVED' })
  t.match(kit.operate('remove', 1, 'a2'), { ok: false, code: 'ADDRESS_NOT_FOUND' })
  t.match(kit.operate('deactivate', 0, 'a2'), { ok: true })
})

t.test('row 31 an address that is removed takes its alarm along, and added again is another', async (t) => {
  const kit = new AddressHealthKit()
  kit.create(['a1', 'a2'])
  kit.fail('a1')
  kit.operate('remove', 0)
  kit.add('a1')
  t.strictSame(kit.alarms(), ['raised voicemail/1 THRESHOLD 1/1', 'cleared voicemail/1 REMOVED 1/1'])
  kit.fail('a1')
  t.strictSame(kit.alarms(), ['raised voicemail/3 THRESHOLD 1/1'])
})

t.test('row 31 deleting a platform clears all its alarms, its own as well', async (t) => {
  const kit = new AddressHealthKit()
  kit.create(['a1', 'a2'])
  kit.fail('a1')
  kit.fail('a2')
  kit.alarms()
  kit.delete()
  t.strictSame(kit.alarms(), [
    'cleared voicemail/1 REMOVED 1/1',
    'cleared voicemail/2 REMOVED 1/1',
    'cleared voicemail NO_ADDRESS',
  ])
})

t.test('row 20 a platform without any active address has an alarm of its own', async (t) => {
  const kit = new AddressHealthKit()
  kit.create(['a1', 'a2'])
  kit.operate('deactivate', 1)
  t.strictSame(kit.alarms(), [], 'inactive ones alone are no alarm')
  kit.fail('a1')
  t.strictSame(kit.alarms(), ['raised voicemail/1 THRESHOLD 1/1', 'raised voicemail NO_ADDRESS'])
  kit.operate('activate', 1)
  t.strictSame(kit.alarms(), ['cleared voicemail NO_ADDRESS'])
  kit.operate('remove', 1)
  t.strictSame(kit.alarms(), ['raised voicemail NO_ADDRESS'])
  kit.add('a3', null, false)
  t.strictSame(kit.alarms(), [])
  kit.operate('deactivate', 0)
  t.strictSame(kit.alarms(), ['cleared voicemail/1 DEACTIVATED 1/1', 'cleared voicemail NO_ADDRESS'])
})

t.test('an address is added once, at a place that is there, up to the bound', async (t) => {
  const kit = new AddressHealthKit()
  kit.create(Array.from({ length: ADDRESS_LIMIT - 1 }, (_, n) => `a${n}`))
  t.match(kit.add('a5'), { ok: false, code: 'ADDRESS_EXISTS' })
  t.match(kit.add('b', ADDRESS_LIMIT), { ok: false, code: 'POSITION_INVALID' })
  t.match(kit.add('b', ADDRESS_LIMIT - 1, false), { ok: true })
  t.equal(kit.state('b'), 'INACTIVE')
  t.match(kit.add('c'), { ok: false, code: 'PLATFORM_FULL' })
})

t.test('a command does first what was due by then, whether it is refused or not', async (t) => {
  const kit = new AddressHealthKit()
  kit.create(['a1'])
  kit.outcome('a1', 'failure')
  kit.time += 5 * SECOND_MS
  t.match(
    kit.append(PLATFORM, {
      type: 'AddressAdded',
      data: { platform: PLATFORM, address: 'a1', active: true, position: null },
    }),
    { ok: false, code: 'ADDRESS_EXISTS' },
  )
  t.equal(kit.state('a1'), 'FAILED')
  t.strictSame(kit.alarms(), ['raised voicemail/1 THRESHOLD 1/1', 'raised voicemail NO_ADDRESS'])
})

t.test('SE-02 names that plain objects would lose are as good as any', async (t) => {
  const kit = new AddressHealthKit({}, { partitions: 1 })
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    kit.create([name], {}, name)
    kit.outcome(name, 'failure', { platform: name })
  }
  kit.advance(5 * SECOND_MS)
  const [page = []] = await kit.queryAll(kit.queries.platforms, { limit: 10 })
  t.match(
    page.map(({ name, addresses }) => [name, addresses[0]?.state]),
    [
      ['__proto__', 'FAILED'],
      ['constructor', 'FAILED'],
      ['hasOwnProperty', 'FAILED'],
      ['toString', 'FAILED'],
    ],
  )
  t.equal(await kit.query(kit.queries.platform, 0, { platform: 'valueOf' }), null)
})

t.test('platforms are listed by name, in pages', async (t) => {
  const kit = new AddressHealthKit({}, { partitions: 1 })
  for (const name of ['c', 'a', 'b']) kit.create(['x'], {}, name)
  const names = async (args: { after?: string; limit: number }): Promise<string[]> =>
    (await kit.query(kit.queries.platforms, 0, args)).map(({ name }) => name)
  t.strictSame(await names({ limit: 2 }), ['a', 'b'])
  t.strictSame(await names({ after: 'b', limit: 2 }), ['c'])
})
