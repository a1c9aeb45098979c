import t from 'tap'
import { memoryProvider } from '../../state-stores/memory/provider.js'
import { countingProcessor } from '../../topology/counting-processor.js'
import type { Log } from '../../topology/log/log.js'
import { JournalFold } from '../../topology/audit/journal-fold.js'
import type { TaskStep } from '../../topology/task/environment.js'
import { TopologyTestDriver } from '../../topology/test-driver.js'
import { down, heartbeat, startPlugin, startSystem } from './fixtures.js'
import { platformsOf } from './outcomes.js'

t.test('OR-06 an audit replay on a live system writes nothing and changes no answer', async (t) => {
  const system = await startSystem(t, { dmiHealthIntervalMs: 400, dmiHealthDeadlineMs: 200 })
  const plugin = await startPlugin(t)
  await system.register(plugin.address, ['dev-1', { cmHandle: 'dev-2', trustLevel: 'NONE' }, 'dev-3'])
  await system.append([heartbeat('dev-1', 'NONE'), heartbeat('dev-2', 'COMPLETE'), heartbeat('nobody', 'NONE')])
  await system.levelIs('dev-1', 'NONE')
  await system.levelIs('dev-2', 'COMPLETE')
  plugin.health = down
  await system.levelIs('dev-3', 'NONE')
  const platforms = platformsOf(system)
  await platforms.create('vm', ['a1', 'a2', 'a3'], { detectInterval: 300 })
  await platforms.report(['a1', 'a2'].map((address) => ({ platform: 'vm', address, result: 'failure' })))
  await platforms.stateIs('vm', 'failed', 0)
  await platforms.stateIs('vm', 'failed', 1)
  await system.stop()
  await system.start()

  const { application } = system.pulsefold()
  const { log } = application
  const answers = async (): Promise<unknown[]> => [
    await system.level('dev-1'),
    await system.level('dev-2'),
    (await system.searchLevel('NONE')).sort(),
    await system.notices(),
    await platforms.alarms(),
    await system.json('/external-platforms'),
    (await system.deadLetters()).length,
  ]
  const before = await answers()
  const written: string[] = []
  /** Reads as the log does; whatever else is asked of it is noted. */
  const readOnly = new Proxy(log, {
    get(target, name) {
      const member = Reflect.get(target, name) as unknown
      if (name !== 'read' && name !== 'offsets') written.push(String(name))
      return typeof member === 'function' ? (member.bind(target) as unknown) : member
    },
  }) satisfies Log
  for (const task of application.tasks) {
    const { topic } = application.journal(task.processor.name)
    await task.commit({ changelog: false })
    const to = task.committedOffset
    const digest = task.digest.rows.toHex()
    const store = await memoryProvider().open('replayed')
    const journal = { topic, partition: task.partition }
    const replayed = await JournalFold.open({ reader: readOnly, processor: task.processor, journal, store })
    await replayed.foldTo(to)
    t.ok(replayed.entries > 0)
    t.equal(replayed.offset, to)
    t.equal(replayed.digest.rows.toHex(), digest, 'it comes to the very state of the live task')
  }
  t.same(written, [], 'only reads')
  t.same(await answers(), before)
})

for (const step of ['folded', 'outputs acknowledged', 'store written'] satisfies TaskStep[]) {
  t.test(`OR-02 a crash at '${step}', before the source position is kept, counts nothing twice`, async (t) => {
    const driver = new TopologyTestDriver({ processors: [countingProcessor] })
    let crashed = false
    driver.probe = (at) => {
      if (at !== step || crashed || !isSent) return Promise.resolve()
      crashed = true
      driver.crash()
      return new Promise(() => undefined)
    }
    let isSent = false
    await driver.start()
    const records = Array.from({ length: 19 }, (_, i) => ({
      key: null,
      value: Buffer.from(i < 10 ? 'a1' : 'a1:timer'),
    }))
    isSent = true
    await driver.log.append('count-me', 0, records)
    while (!crashed) await driver.clock.advance(50)
    await driver.start()
    await driver.advance(300)
    const query = countingProcessor.queries.find(({ name }) => name === 'count')!
    const answer = await driver.application.query('counting', query, 'a1', 'a1')
    t.match(answer, { ok: true, result: 19 })
    await driver.stop()
  })
}
