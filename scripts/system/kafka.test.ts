import * as zlib from 'node:zlib'
import t from 'tap'
import { framed } from '../../schemas/registry/registry-double.js'
import { registrar } from '../../schemas/registry/registrar.js'
import { deviceTrustLevelAvro } from '../../schemas/trust-level/heartbeat-schema.js'
import { foreignClient } from '../../topology/log/kafka/foreign-client.js'
import { realBrokers } from '../../topology/log/kafka/real-brokers.js'
import { heartbeat, onKafka, PLUGIN, startSystem, temporaryFolder } from './fixtures.js'
import { inFull } from './full-length.js'
import { spawnPulsefold } from './real-process.js'
import { until } from './until.js'

const brokers = realBrokers(t)
const hasZstd = 'zstdDecompress' in zlib

if (brokers.length > 0) {
  t.test(
    'SH-07 a batch that cannot be decoded: not ready, a clear message, and an exit that is not 0',
    { skip: hasZstd && 'this Node has zstd' },
    async (t) => {
      const values = await onKafka(t, brokers)
      const { append, createTopic } = await foreignClient(t, brokers)
      const topic = String(values.heartbeatTopic)
      // The broker compresses anew what a producer sends it otherwise.
      await createTopic(topic, 1, { 'compression.type': 'zstd' })
      const running = spawnPulsefold(t, temporaryFolder(t), { values })
      await running.ready
      await append({ topic, partition: 0 }, [heartbeat('dev-1', 'NONE')])
      const { code, last, out } = await running.ended
      t.equal(code, 70)
      t.match(last, { level: 'fatal', err: { code: 'CODEC_UNSUPPORTED', message: new RegExp(topic) } })
      t.match(out, /zstd needs Node/)
    },
  )

  t.test('RS-09 a second process on the same data directory is refused, and the first goes on', async (t) => {
    const [values, folder] = [await onKafka(t, brokers), temporaryFolder(t)]
    const first = spawnPulsefold(t, folder, { values })
    await first.ready
    const second = await spawnPulsefold(t, folder, { values }).ended
    t.equal(second.code, 69)
    t.match(second.out, `${folder}/data`)
    await first.register(PLUGIN, ['dev-1'])
    t.equal(await first.level('dev-1'), 'COMPLETE')
    first.kill('SIGKILL')
    await first.ended
    const third = spawnPulsefold(t, folder, { values })
    await third.ready
    t.equal(await third.level('dev-1'), 'COMPLETE')
  })

  t.test('ME-01 a compacted source of tombstones alone is passed, in one process with its producer', async (t) => {
    const values = await onKafka(t, brokers)
    const topic = String(values.heartbeatTopic)
    const { createTopic } = await foreignClient(t, brokers)
    await createTopic(topic, 1, { 'cleanup.policy': 'compact' })
    const system = await startSystem(t, values)
    await system.register(PLUGIN, ['dev-1'])
    const count = inFull(130_000, 30_000)
    const tombstones = Array.from({ length: count }, (_, i) => ({ key: Buffer.from(`dev-${i}`), value: null }))
    await system.append([...tombstones, heartbeat('dev-1', 'NONE')])
    t.ok(await system.levelIs('dev-1', 'NONE', 120_000))
    t.equal(await system.metric('pulsefold_ingested_records_total', 'NULL_VALUE'), count)
  })

  t.test('OR-08 own topics with another number of partitions stop the start, which says what to do', async (t) => {
    const values = await onKafka(t, brokers)
    const { createTopic } = await foreignClient(t, brokers)
    const changelog = `${values.applicationId}-trust-level-changelog`
    await createTopic(changelog, 5, { 'cleanup.policy': 'compact', 'message.timestamp.type': 'LogAppendTime' })
    const { code, out, last } = await spawnPulsefold(t, temporaryFolder(t), { values }).ended
    t.equal(code, 78)
    t.match(out, `topic "${changelog}" has other settings. partitions: expected 3, found 5`)
    t.match(out, /set `partitions` to what it has/)
    t.match(last, { level: 'fatal', err: { code: 'TOPIC_MISMATCH' } })
  })

  t.test('ME-10 heartbeats of 9 MB on a topic that takes them', async (t) => {
    const values = await onKafka(t, brokers)
    const { append, createTopic } = await foreignClient(t, brokers)
    const at = { topic: String(values.heartbeatTopic), partition: 0 }
    await createTopic(at.topic, 1, { 'max.message.bytes': String(10 * 1024 * 1024) })
    const system = await startSystem(t, values)
    await system.register(PLUGIN, ['dev-1', 'dev-2'])
    const padding = 'x'.repeat(9 * 1024 * 1024)
    const good = JSON.stringify({ data: { trustLevel: 'NONE' }, padding })
    await append(at, [heartbeat('dev-1', '', { value: good })])
    await append(at, [heartbeat('dev-1', '', { value: `{"data":${padding}` })])
    await append(at, [heartbeat('dev-2', 'NONE')])
    t.ok(await system.levelIs('dev-2', 'NONE'))
    t.equal(await system.level('dev-1'), 'COMPLETE', 'more than 1 MiB is refused')
    const letters = await until('both dead letters', async () => {
      const found = await system.deadLetters()
      return found.length === 2 && found
    })
    for (const { headers, value } of letters) {
      t.equal(headers['__streams.errors.exception'], 'RECORD_TOO_LARGE')
      t.ok(Number(headers['__pulsefold.short-form']) > padding.length)
      t.equal(value?.length, 4096)
    }
  })

  const { PULSEFOLD_SCHEMA_REGISTRY_URL: registryUrl = '' } = process.env
  t.test(
    'SC-01 SC-03 Avro with a real registry: framed values are read, others are dead letters, and the partition goes on',
    { skip: registryUrl === '' && 'no registry: see ./scripts/services' },
    async (t) => {
      const values = await onKafka(t, brokers)
      const topic = String(values.heartbeatTopic)
      const id = await registrar(registryUrl).register({
        subject: `${topic}-value`,
        format: 'AVRO',
        schema: deviceTrustLevelAvro,
        direction: 'read',
      })
      const system = await startSystem(t, { ...values, schemaRegistryUrl: registryUrl })
      await system.register(PLUGIN, ['dev-1', 'dev-2'])
      const avro = (schemaId: number): Buffer =>
        framed(schemaId, deviceTrustLevelAvro, { data: { trustLevel: 'NONE' } })
      const wrong = ['{"data":{"trustLevel":"NONE"}}', Buffer.from([0x48, 1, 2, 3, 4, 5]), avro(2_000_000_000)]
      const headers = { 'content-type': 'application/avro' }
      await system.append([
        ...wrong.map((value) => heartbeat('dev-2', '', { value, headers })),
        heartbeat('dev-1', '', { value: avro(id), headers }),
      ])
      t.ok(await system.levelIs('dev-1', 'NONE'))
      const letters = await until('the dead letters', async () => {
        const found = await system.deadLetters()
        return found.length === 3 && found
      })
      t.same(letters.map(({ headers }) => headers['__streams.errors.exception']).sort(), [
        'NOT_SCHEMA_FRAMED',
        'NOT_SCHEMA_FRAMED',
        'UNKNOWN_SCHEMA_ID',
      ])
      t.equal(await system.level('dev-2'), 'COMPLETE')
    },
  )

  t.test('ME-08 connected and idle, it takes little of a processor, and warns of nothing', async (t) => {
    const running = spawnPulsefold(t, temporaryFolder(t), { values: await onKafka(t, brokers) })
    await running.ready
    const cpu = (): Promise<number> => running.metric('process_cpu_seconds_total')
    // The start itself has to be over: its lazily compiled code, its first garbage.
    const share = async (): Promise<number> => {
      const [beganAt, before] = [performance.now(), await cpu()]
      const wholeMs = inFull(5 * 60_000, 10_000)
      await until('a while', () => performance.now() - beganAt > wholeMs, 2 * wholeMs)
      return ((await cpu()) - before) / ((performance.now() - beganAt) / 1000)
    }
    await until('the process is idle', async () => (await share()) < inFull(1, 3) * 0.03, 60_000)
    running.kill('SIGTERM')
    const { log } = await running.ended
    t.notMatch(log.join('\n'), /Warning/)
  })
}
