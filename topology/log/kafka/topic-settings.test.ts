import t from 'tap'
import type { TopicSpec } from '../log.js'
import { checkTopic, settingsOf } from './topic-settings.js'

const spec: TopicSpec = {
  name: 'pulsefold-journal',
  partitions: 12,
  cleanup: 'delete',
  retentionMs: 1000,
  retentionBytes: -1,
  timestampType: 'LogAppendTime',
}
const asCreated = new Map(Object.entries(settingsOf(spec)))

t.test('a topic that is as we make it is right, and one that keeps more', async (t) => {
  checkTopic(spec, 12, asCreated)
  checkTopic(spec, 12, new Map([...asCreated, ['retention.ms', '-1'], ['max.message.bytes', '10000000']]))
  t.pass()
})

const wrong: readonly (readonly [
  what: string,
  partitions: number,
  found: readonly (readonly [string, string])[],
  text: string,
])[] = [
  ['partitions', 3, [], 'partitions: expected 12, found 3'],
  ['clean-up', 12, [['cleanup.policy', 'compact']], 'cleanup.policy: expected delete, found compact'],
  [
    'timestamps',
    12,
    [['message.timestamp.type', 'CreateTime']],
    'message.timestamp.type: expected LogAppendTime, found CreateTime',
  ],
  ['retention', 12, [['retention.ms', '999']], 'retention.ms: expected 1000, found 999'],
  ['size', 12, [['retention.bytes', '5']], 'retention.bytes: expected -1, found 5'],
  ['small records', 12, [['max.message.bytes', '1000']], 'max.message.bytes: expected 4194304, found 1000'],
]
for (const [what, partitions, found, text] of wrong) {
  t.test(`OR-08 other ${what} are refused, naming what was expected and found`, async (t) => {
    t.throws(() => checkTopic(spec, partitions, new Map([...asCreated, ...found])), {
      code: 'TOPIC_MISMATCH',
      message: `topic "pulsefold-journal" has other settings. ${text}`,
    })
  })
}

t.test('a compacted topic that keeps tombstones for less than a day is refused', async (t) => {
  const changelog: TopicSpec = { ...spec, cleanup: 'compact', retentionMs: -1 }
  const found = new Map(Object.entries(settingsOf(changelog)))
  t.equal(found.get('delete.retention.ms'), '86400000')
  checkTopic(changelog, 12, found)
  checkTopic(changelog, 12, new Map([...found, ['delete.retention.ms', '172800000']]))
  t.throws(() => checkTopic(changelog, 12, new Map([...found, ['delete.retention.ms', '60000']])), {
    message: /delete.retention.ms: expected 86400000, found 60000/,
  })
})
