import t from 'tap'
import type { Test } from 'tap'
import { foreignClient } from '../../topology/log/kafka/foreign-client.js'
import { realBrokers } from '../../topology/log/kafka/real-brokers.js'
import { commandLine } from './command-line.js'
import { heartbeat, onKafka, PLUGIN, startSystem, temporaryFolder } from './fixtures.js'
import type { System } from './fixtures.js'
import { spawnPulsefold } from './real-process.js'
import { until } from './until.js'

const brokers = realBrokers(t)
/** Topics are looked at every 5 s. */
const patienceMs = 60_000

const reasons = async (system: System): Promise<string> =>
  (JSON.parse((await system.ask('/ops/health/ready')).text) as { reasons: string[] }).reasons.join('; ')

async function onTopics(t: Test, partitions: number) {
  const values = await onKafka(t, brokers)
  const client = await foreignClient(t, brokers)
  const topic = String(values.heartbeatTopic)
  await client.createTopic(topic, partitions)
  return { values, topic, ...client }
}

if (brokers.length > 0) {
  t.test('RB-08 an input topic that is missing at the start is waited for, and not made', async (t) => {
    const { createInputTopics, ...values } = await onKafka(t, brokers)
    t.ok(createInputTopics)
    const { admin, append, createTopic } = await foreignClient(t, brokers)
    const topic = String(values.heartbeatTopic)
    for (const other of [values.e2tMessagesTopic, values.callOutcomeTopic]) await createTopic(String(other), 1)
    const running = spawnPulsefold(t, temporaryFolder(t), { values })
    const listening = await running.listening()
    const ready = async (): Promise<string> => (await fetch(`${listening}/ops/health/ready`)).text()
    await until('it says what it waits for', async () => (await ready()).includes(`input topic ${topic} is missing`))
    t.equal((await fetch(`${listening}/ops/health/live`)).status, 200)
    t.notOk((await admin.listTopics()).includes(topic), 'it was not made')
    await createTopic(topic, 2)
    await append({ topic, partition: 1 }, [heartbeat('dev-1', 'NONE')])
    await running.ready
    await running.register(PLUGIN, ['dev-1'])
    t.ok(await running.levelIs('dev-1', 'NONE'))
    running.kill('SIGTERM')
    const { code, log } = await running.ended
    t.equal(code, 0)
    t.equal(log.filter((line) => line.includes('input topic is missing')).length, 1)
  })

  t.test('a start that waits for its input topic is stopped by SIGTERM', async (t) => {
    const { createInputTopics: _, ...values } = await onKafka(t, brokers)
    const running = spawnPulsefold(t, temporaryFolder(t), { values })
    const listening = await running.listening()
    await until('it waits', async () =>
      (await (await fetch(`${listening}/ops/health/ready`)).text()).includes('missing'),
    )
    running.kill('SIGTERM')
    t.equal((await running.ended).code, 0)
  })

  t.test(
    'OR-08 RB-06 an input topic that grows keeps its state, and its new partitions are read from their start',
    async (t) => {
      const { values, topic, growTopic, append } = await onTopics(t, 3)
      const system = await startSystem(t, { ...values, partitions: 3 })
      const ids = Array.from({ length: 100 }, (_, i) => `dev-${i}`)
      await system.register(PLUGIN, ids)
      const send = async (level: string, partitions: number): Promise<void> => {
        for (let partition = 0; partition < partitions; partition++) {
          const own = ids.filter((_, i) => i % partitions === partition)
          await append(
            { topic, partition },
            own.map((id) => heartbeat(id, level)),
          )
        }
      }
      await send('NONE', 3)
      await until('all are NONE', async () => (await system.searchLevel('NONE')).length === 100)
      await growTopic(topic, 6)
      await send('COMPLETE', 6)
      await until('all are COMPLETE', async () => (await system.searchLevel('COMPLETE')).length === 100, patienceMs)
      t.same((await system.search()).length, 100)
      await system.stop()
      await growTopic(topic, 8)
      await send('NONE', 8)
      await system.start()
      await until('all are NONE again', async () => (await system.searchLevel('NONE')).length === 100, patienceMs)
      t.equal((await system.ask('/ops/health/ready')).status, 200)
    },
  )

  for (const when of ['while it runs', 'while it runs, and grown beyond what was read', 'while it is stopped']) {
    t.test(`a source made anew ${when} is not read until an operator says so`, async (t) => {
      const { values, topic, append, createTopic, deleteTopic } = await onTopics(t, 1)
      const system = await startSystem(t, { ...values, partitions: 3 })
      await system.register(PLUGIN, ['dev-1', 'dev-2'])
      await append({ topic, partition: 0 }, [heartbeat('dev-1', 'NONE'), heartbeat('dev-1', 'COMPLETE')])
      await until('both are taken', async () => (await system.metric('pulsefold_ingested_records_total')) === 2)
      const url = (): string => system.pulsefold().url
      t.match(
        await commandLine('sources', 'restart', topic, '0', '--url', url(), '--reason=x'),
        /^70 .*has not stopped/,
      )
      if (when === 'while it is stopped') await system.stop()
      await deleteTopic(topic)
      await createTopic(topic, 1)
      const records = when.includes('grown') ? 10 : 1
      await append(
        { topic, partition: 0 },
        Array.from({ length: records }, () => heartbeat('dev-1', 'NONE')),
      )
      if (when === 'while it is stopped') await system.startUnready()
      await until('it says why', async () => (await reasons(system)).includes('the topic was made anew'), patienceMs)
      t.equal((await system.ask('/ops/health/ready')).status, 503)
      t.equal(await system.metric('pulsefold_input_stopped', topic), 1)
      t.ok(await system.levelIs('dev-1', 'COMPLETE'), 'answers go on')
      const sources = await system.json<{ topic: string; position: number }[]>('/ops/sources')
      const { position } = sources.find((source) => source.topic === topic) ?? {}
      t.equal(position, when === 'while it is stopped' ? 0 : 2, 'nothing of the new one is taken')
      t.match(await commandLine('sources', 'list', '--url', url()), `${topic}/0  stopped: the topic was made anew\n`)
      t.match(await commandLine('sources', 'restart', topic, '0', '--url', url()), /required option '--reason/)
      t.match(
        await commandLine('sources', 'restart', topic, '0', '--url', url(), '--actor=op', '--reason=moved broker'),
        `0 ${topic}/0 is read from offset 0 on, as ${topic}/0@`,
      )
      t.ok(await system.levelIs('dev-1', 'NONE', patienceMs))
      await append({ topic, partition: 0 }, [heartbeat('dev-2', 'NONE')])
      t.ok(await system.levelIs('dev-2', 'NONE'))
      await until('it is ready', async () => (await system.ask('/ops/health/ready')).status === 200)
      const acts = await system.records(`${values.applicationId}-sources`)
      t.match(JSON.parse(acts.at(-1)?.value?.toString() ?? ''), { actor: 'op', reason: 'moved broker' })
      await system.stop()
      await system.start()
      t.equal((await system.ask('/ops/health/ready')).status, 200, 'the next start goes on from there')
    })
  }

  t.test('an input that ends in an aborted transaction holds up no start', async (t) => {
    const { values, topic, append, appendAborted } = await onTopics(t, 1)
    const system = await startSystem(t, { ...values, partitions: 3 })
    await system.register(PLUGIN, ['dev-1'])
    await append({ topic, partition: 0 }, [heartbeat('dev-1', 'NONE')])
    t.ok(await system.levelIs('dev-1', 'NONE'))
    await system.stop()
    await appendAborted({ topic, partition: 0 }, [heartbeat('dev-1', 'COMPLETE')])
    await system.start()
    t.equal((await system.ask('/ops/health/ready')).status, 200)
    t.equal(await system.level('dev-1'), 'NONE')
  })

  t.test('RS-14 unread records that retention has deleted are a gap, reported, and the work goes on', async (t) => {
    const { values, topic, append, deleteBefore } = await onTopics(t, 1)
    const system = await startSystem(t, { ...values, partitions: 3 })
    await system.register(PLUGIN, ['dev-1', 'dev-2'])
    await append({ topic, partition: 0 }, [heartbeat('dev-1', 'NONE')])
    t.ok(await system.levelIs('dev-1', 'NONE'))
    await until('it is committed', async () => {
      const sources = await system.json<{ topic: string; position: number }[]>('/ops/sources')
      return sources.find((source) => source.topic === topic)?.position === 1
    })
    await system.stop()
    await append(
      { topic, partition: 0 },
      Array.from({ length: 1000 }, () => heartbeat('dev-1', 'COMPLETE')),
    )
    await deleteBefore({ topic, partition: 0 }, 1001)
    await append({ topic, partition: 0 }, [heartbeat('dev-2', 'NONE')])
    await system.start()
    t.ok(await system.levelIs('dev-2', 'NONE'))
    t.equal(await system.metric('pulsefold_gap_records_total', topic), 1000)
    t.equal(await system.level('dev-1'), 'NONE')
  })
}
