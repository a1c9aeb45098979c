import { get } from 'node:http'
import type { IncomingMessage } from 'node:http'
import t from 'tap'
import { down, PLUGIN, startPlugin, startSystem, up } from './fixtures.js'
import { until } from './until.js'

interface Feed {
  /** `dev-1 COMPLETE>NONE heartbeat` in the order received. */
  readonly seen: string[]
  readonly lastId: () => string | undefined
  readonly ended: Promise<void>
  close(): void
}

/** A client of the server-sent events. */
async function follow(url: string, query: string, lastEventId?: string): Promise<Feed> {
  const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
  const path = `${url}/ops/trust-levels/transitions${query}`
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(path, { headers, agent: false }, resolve).on('error', reject)
  })
  if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode}`)
  const seen: string[] = []
  let lastId: string | undefined
  let text = ''
  response.setEncoding('utf8').on('data', (chunk: string) => {
    const events = (text + chunk).split('\n\n')
    text = events.pop() ?? ''
    for (const event of events) {
      const [id, data] = [/^id: (.*)$/m.exec(event)?.[1], /^data: (.*)$/m.exec(event)?.[1]]
      if (id === undefined || data === undefined) continue
      const { cmHandle, old, new: now, cause } = JSON.parse(data) as Record<string, string>
      seen.push(`${cmHandle} ${old ?? ''}>${now} ${cause}`)
      lastId = id
    }
  })
  const ended = new Promise<void>((resolve) => response.on('close', resolve).on('error', () => resolve()))
  return { seen, lastId: () => lastId, ended, close: () => response.destroy() }
}

const fast = { dmiHealthIntervalMs: 400, dmiHealthDeadlineMs: 200 }

t.test('transitions resume without loss or double over restarts', async (t) => {
  const system = await startSystem(t)
  const ids = Array.from({ length: 60 }, (_, i) => `dev-${i}`)
  await system.register(PLUGIN, ids)
  const all: string[] = []
  let lastId: string | undefined
  const rounds = 6
  for (let round = 0; round < rounds; round++) {
    const feed = await follow(system.pulsefold().url, '?from=earliest', lastId)
    const level = round % 2 === 0 ? 'NONE' : 'COMPLETE'
    await system.report(ids.map((id) => [id, level] as const))
    // Left in the middle of the round, and twice at its very end.
    const enough = round < 2 ? ids.length : 10
    await until('some transitions', () => feed.seen.length >= enough)
    if (round % 2 === 0) {
      await system.stop()
      await feed.ended
      await system.start()
    } else feed.close()
    all.push(...feed.seen)
    lastId = feed.lastId()
  }
  const feed = await follow(system.pulsefold().url, '', lastId)
  await until('the rest', () => all.length + feed.seen.length >= ids.length * rounds)
  all.push(...feed.seen)
  feed.close()
  for (const id of ids) {
    const own = all.filter((transition) => transition.startsWith(`${id} `))
    const expected = Array.from({ length: rounds }, (_, i) =>
      i % 2 === 0 ? `${id} COMPLETE>NONE heartbeat` : `${id} NONE>COMPLETE heartbeat`,
    )
    t.same(own, expected)
  }
})

t.test('after a restart heartbeats and plugin changes meet the levels of before', async (t) => {
  const system = await startSystem(t, { ...fast, onDmiRestart: 'keep' })
  const { level, levelIs } = system
  const plugin = await startPlugin(t)
  await system.register(plugin.address, ['known-1', { cmHandle: 'known-2', trustLevel: 'NONE' }, 'known-3'])
  await system.report([['known-3', 'NONE']])
  await levelIs('known-3', 'NONE')
  await system.stop()
  await system.start()
  t.same([await level('known-1'), await level('known-2'), await level('known-3')], ['COMPLETE', 'NONE', 'NONE'])
  await system.report([['known-2', 'COMPLETE']])
  t.ok(await levelIs('known-2', 'COMPLETE'))
  plugin.health = down
  t.ok(await levelIs('known-1', 'NONE'))
  await system.stop()
  await system.start()
  t.same([await level('known-1'), await level('known-2'), await level('known-3')], ['NONE', 'NONE', 'NONE'])
  t.same((await system.searchLevel('NONE')).sort(), ['known-1', 'known-2', 'known-3'])
  plugin.health = up
  t.ok(await levelIs('known-1', 'COMPLETE'))
  t.same([await level('known-2'), await level('known-3')], ['COMPLETE', 'NONE'])
  t.same((await system.searchLevel('COMPLETE')).sort(), ['known-1', 'known-2'])
  const notices = await until('all notices', async () => {
    const found = (await system.notices()).sort()
    return found.length >= 7 && found
  })
  t.same(notices, [
    'known-1 COMPLETE>NONE',
    'known-1 NONE>COMPLETE',
    'known-2 >NONE',
    'known-2 COMPLETE>NONE',
    'known-2 NONE>COMPLETE',
    'known-2 NONE>COMPLETE',
    'known-3 COMPLETE>NONE',
  ])
})
