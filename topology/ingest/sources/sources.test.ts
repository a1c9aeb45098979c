import t from 'tap'
import type { Test } from 'tap'
import { manualClock } from '../../../common/manual-clock.js'
import { memoryProvider } from '../../../state-stores/memory/provider.js'
import { countingProcessor } from '../../counting-processor.js'
import { newName } from '../../log/contract/harness.js'
import { openEmbeddedLogAt } from '../../log/embedded/embedded-log.js'
import type { GroupMember, GroupPosition, LogRecord, ReadingStart, TopicSpec } from '../../log/log.js'
import { silentObserver } from '../../observer.js'
import type { IngestEnvironment } from '../ingest.js'
import { Sources } from './sources.js'
import { positionBehind } from './taken.js'

const topic = 'count-me'
const at = { topic, partition: 0 }
const act = { actor: 'op', reason: 'test' }
const spec: TopicSpec = {
  ...{ name: topic, partitions: 1, cleanup: 'delete', retentionMs: -1, retentionBytes: -1 },
  timestampType: 'CreateTime',
}
const record = { key: null, value: Buffer.from('x') }

/** Sources of one input partition, whose group and broker a test plays. */
async function subject(t: Test) {
  const clock = manualClock()
  let topics = 0
  const log = await openEmbeddedLogAt(memoryProvider(), newName(), {
    clock,
    newIncarnation: () => `id ${++topics}`,
    onCleanError: (error) => t.fail(error.message),
  })
  await log.createTopics([spec, { ...spec, name: 'sources' }])
  /** What the broker answers that is asked; undefined: what is so. */
  const broker: { id: string | undefined } = { id: undefined }
  const describe = log.topic.bind(log)
  log.topic = async (name) => {
    const description = await describe(name)
    if (description === undefined || name !== topic) return description
    return { ...description, incarnation: broker.id ?? description.incarnation }
  }
  let position: GroupPosition | undefined
  const seeks: ReadingStart[] = []
  const member = {
    committed: () => Promise.resolve(position),
    commit: (_at: unknown, committed: GroupPosition) => Promise.resolve(void (position = committed)),
    seek: (to: ReadingStart) => void seeks.push(to),
    ...{ pause: () => undefined, resume: () => undefined, rejoin: () => undefined },
  } as unknown as GroupMember
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  const sources = new Sources({
    ...{ log, clock, processors: [countingProcessor], registerTopic: 'sources', signal: stop.signal },
    ...{ environment: {} as IngestEnvironment, observer: silentObserver, member: () => member },
  })
  return {
    ...{ log, clock, broker, sources, seeks },
    open: async (): Promise<ReadingStart> => {
      await sources.open()
      return sources.assigned(at)
    },
    /** The group has taken in all records but so many. */
    taken: async (incarnation: string, left = 0): Promise<void> => {
      const { end } = await log.offsets(at)
      const last = (await log.read(at, end - 1 - left)).records[0] as LogRecord
      position = positionBehind(last, end - left, incarnation)
    },
    goneWithTopic: (): void => void (position = undefined),
  }
}

t.test('a source made anew just behind its assignment is not taken for the one that was judged', async (t) => {
  const { log, clock, broker, sources, seeks, open, taken, goneWithTopic } = await subject(t)
  await log.append(topic, 0, [record, record])
  t.same(await open(), { ...at, offset: 0, incarnation: 'id 1' }, 'read is this one only')
  await sources.revoked(at)
  await taken('id 1')
  await log.recreateTopic(spec)
  await log.append(topic, 0, [record, record, record])
  broker.id = 'id 1'
  t.same(await sources.assigned(at), { ...at, offset: 2, incarnation: 'id 1' }, 'a broker does not know of it yet')
  broker.id = undefined
  await clock.advance(5000)
  t.match(sources.reasons(), ['input count-me/0 is not read: the topic was made anew'])
  goneWithTopic()
  t.same(await sources.restart(at, act), { ok: true, incarnation: 'id 3', from: 0 })
  t.same(seeks, [{ ...at, offset: 0, incarnation: 'id 3' }])
})

t.test('a broker that knows the older topic only stops no source for good', async (t) => {
  const { log, clock, broker, sources, seeks, open } = await subject(t)
  await log.append(topic, 0, [record])
  await open()
  broker.id = 'older'
  await clock.advance(5000)
  t.match(sources.reasons(), ['input count-me/0 is not read: the topic was made anew'])
  broker.id = undefined
  await clock.advance(5000)
  t.match(sources.reasons(), ['input count-me/0 is not yet read up to offset 1'])
  t.same(seeks, [{ ...at, offset: 0, incarnation: 'id 1' }])
})

t.test('a new incarnation is to be read up to its own end, not to that of the old one', async (t) => {
  const { log, clock, sources, open, goneWithTopic } = await subject(t)
  await log.append(topic, 0, [record, record, record])
  await open()
  t.match(sources.reasons(), ['input count-me/0 is not yet read up to offset 3'])
  await log.recreateTopic(spec)
  goneWithTopic()
  await clock.advance(5000)
  await sources.restart(at, act)
  t.same(sources.reasons(), [])
})

t.test('what holds no record to its end is read up to there', async (t) => {
  const { log, sources, open, taken } = await subject(t)
  await log.append(topic, 0, [record, record])
  await taken('id 1', 1)
  await open()
  t.match(sources.reasons(), ['input count-me/0 is not yet read up to offset 2'])
  sources.passedOver({ ...at, next: 2 })
  t.same(sources.reasons(), [])
  t.equal(sources.takenIn(at), 2)
})
