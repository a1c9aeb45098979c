import t from 'tap'
import { HEARTBEATS, PLUGIN, startSystem } from './fixtures.js'
import { until } from './until.js'

const ids = Array.from({ length: 100 }, (_, i) => `dev-${i}`)

t.test('SH-03 queries while partitions are taken away and given back fifty times', async (t) => {
  const system = await startSystem(t, { partitions: 4 })
  await system.register(PLUGIN, ids)
  const { application } = system.pulsefold()
  const { log } = application
  const topics = [HEARTBEATS, application.journal('trust-level').topic]
  const wrong: string[] = []
  const counts = { answered: 0, unavailable: 0 }
  let isStopping = false
  const lane = async (which: number): Promise<void> => {
    for (let n = which; !isStopping; n++) {
      const [id, isSearch] = [ids[n % ids.length]!, n % 5 === 0]
      const path = isSearch ? '/ncmp/v1/ch/id-searches' : `/ncmp/v1/ch/${id}`
      const { status, headers, text } = await system.ask(path, isSearch ? { body: {} } : {})
      if (status === 200) {
        counts.answered++
        if (isSearch && (JSON.parse(text) as string[]).length !== ids.length) wrong.push(`a search found too few`)
        if (!isSearch && !text.includes('"trustLevel":"COMPLETE"')) wrong.push(text)
      } else if (status === 503 && headers['retry-after'] !== undefined) counts.unavailable++
      else wrong.push(`${path}: ${status} ${text}`)
    }
  }
  const lanes = Promise.all(
    Array.from({ length: 4 }, async (_, which) =>
      lane(which).catch((error: unknown) => {
        if (!isStopping) wrong.push(String(error))
      }),
    ),
  )
  const live = (): number =>
    application.tasks.filter(({ state, processor }) => state === 'LIVE' && processor.name === 'trust-level').length
  for (let turn = 0; turn < 50; turn++) {
    let assigned = 0
    const other = await log.join({
      group: 'pulsefold',
      topics,
      listener: {
        onAssigned: async (partitions) => {
          assigned += partitions.length
          return []
        },
        onRevoked: () => Promise.resolve(),
        onBatch: () => Promise.resolve(),
        onGap: () => undefined,
        onError: () => undefined,
      },
    })
    await until('the other member has partitions', () => assigned > 0)
    await other.leave()
    await until('all partitions are back', () => live() === 4)
  }
  const before = counts.answered
  await until('answers after the last turn', () => counts.answered > before + 50)
  isStopping = true
  await system.stop()
  // What was on its way at the stop may have found the door closed.
  await lanes
  t.same(wrong, [])
  t.ok(counts.answered > 50 && counts.unavailable > 0, JSON.stringify(counts))
})
