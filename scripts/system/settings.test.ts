import t from 'tap'
import { heartbeat, startPlugin, startSystem, up } from './fixtures.js'
import { until } from './until.js'

t.test('a running service goes by its settings', async (t) => {
  const plugin = await startPlugin(t, (request, response) => {
    const isAllowed = request.headers.authorization === `Basic ${Buffer.from('cps:secret').toString('base64')}`
    if (isAllowed && request.url === '/is/up') up(request, response)
    else response.writeHead(request.url === '/is/up' ? 401 : 404).end()
  })
  const system = await startSystem(t, {
    applicationId: 'site-a',
    heartbeatTopic: 'beats',
    callOutcomeTopic: 'outcomes',
    alarmTopic: 'bells',
    restApiNcmpBasePath: '/base/north',
    restApiNcmpInventoryBasePath: '/base/south',
    dmiHealthIntervalMs: 400,
    dmiHealthDeadlineMs: 200,
    dmiHealthPaths: ['/none', '/is/up'],
    dmiUsername: 'cps',
    dmiPassword: 'secret',
    allowedUrlPattern: 'http://127\\.0\\.0\\.1:.*',
    trustLevelNotices: false,
    pendingLevelMs: 100,
    maxFutureSkewMs: 1000,
  })
  const { log } = system.pulsefold().application
  const register = async (dmiPlugin: string): Promise<number> => {
    const body = { dmiPlugin, createdCmHandles: [{ cmHandle: 'dev-1' }] }
    return (await system.ask('/base/south/v1/ch', { body })).status
  }
  const read = async (): Promise<Record<string, string>> => system.json('/base/north/v1/ch/dev-1?evidence=true')

  await t.test('allowedUrlPattern and the base paths', async (t) => {
    t.equal(await register('http://dmi.example:8080'), 400)
    t.equal(await register(plugin.address), 200)
    t.match(await read(), { cmHandle: 'dev-1', trustLevel: 'COMPLETE' })
    t.equal((await system.ask('/ncmp/v1/ch/dev-1')).status, 404)
  })

  await t.test(
    'applicationId, partitions, heartbeatTopic, callOutcomeTopic, alarmTopic, trustLevelNotices',
    async (t) => {
      const topics = await log.topics()
      const names = topics.map(({ name }) => name)
      for (const wanted of ['dead-letters', 'trust-level-changelog', 'trust-level-journal', 'address-health-journal']) {
        t.ok(names.includes(`site-a-${wanted}`), wanted)
      }
      for (const wanted of ['beats', 'outcomes', 'bells']) t.ok(names.includes(wanted), wanted)
      t.notOk(names.includes('ncmp-inventory-events'))
      for (const { name, partitions } of topics) if (name.includes('trust-level')) t.equal(partitions, 3, name)
      t.equal((await system.ask('/ops/trust-levels/transitions')).status, 404, 'without notices there is no feed')
    },
  )

  await t.test('the paths of health checks, and their user', async (t) => {
    await until('checks at the path that answered', () => plugin.asked.slice(-3).join() === '/is/up,/is/up,/is/up')
    t.equal(plugin.asked[0], '/none')
    t.match(await system.json('/ops/dmi-plugins'), [{ trustLevel: 'COMPLETE', healthPath: '/is/up' }])
  })

  await t.test('maxFutureSkewMs and pendingLevelMs', async (t) => {
    const ahead = { headers: { ce_time: new Date(Date.now() + 60_000).toISOString() } }
    await log.append('beats', 0, [heartbeat('dev-1', 'NONE', ahead), heartbeat('nobody', 'NONE')])
    await until('the level', async () => (await read())['trustLevel'] === 'NONE')
    t.equal(await system.metric('pulsefold_fold_events_total', 'replaced_event_times', 'future'), 1)
    const [letter] = await until('the report of nobody is given up', async () => {
      const letters = await system.records('site-a-dead-letters')
      return letters.length > 0 && letters
    })
    t.match(letter?.headers, {
      '__streams.errors.topic': 'beats',
      '__streams.errors.exception': 'UNREGISTERED_CM_HANDLE',
      ce_id: 'nobody',
    })
  })
})
