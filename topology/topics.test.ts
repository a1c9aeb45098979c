import t from 'tap'
import { countingProcessor } from './counting-processor.js'
import { inputTopics, outputTopics, ownTopics } from './topics.js'

const DAY_MS = 86_400_000

t.test('journal, changelog, digests and dead letters follow from the declaration, by their names', async (t) => {
  const settings = { applicationId: 'app', partitions: 6, journalRetentionMs: 7 }
  const kept = { partitions: 6, cleanup: 'delete', retentionBytes: -1, timestampType: 'LogAppendTime' } as const
  t.strictSame(ownTopics([countingProcessor], settings), [
    { ...kept, name: 'app-counting-journal', retentionMs: 7 },
    { ...kept, name: 'app-counts-changelog', retentionMs: -1, cleanup: 'compact' },
    { ...kept, name: 'app-counts-digests', retentionMs: -1, cleanup: 'compact' },
    { ...kept, name: 'app-dead-letters', retentionMs: 30 * DAY_MS },
    { ...kept, name: 'app-sources', partitions: 1, retentionMs: -1, cleanup: 'compact' },
  ])
})

t.test('an output topic is kept for a week unless its declaration says otherwise', async (t) => {
  const [output] = countingProcessor.outputs
  const made = { partitions: 6, cleanup: 'delete', retentionBytes: -1, timestampType: 'LogAppendTime' }
  t.strictSame(outputTopics([countingProcessor], 6)[0], { ...made, name: output?.topic, retentionMs: 7 * DAY_MS })
})

t.test('an input topic of several inputs is made once, and keeps the stamps of its producers', async (t) => {
  t.strictSame(inputTopics([countingProcessor, countingProcessor], 6), [
    {
      name: 'count-me',
      partitions: 6,
      cleanup: 'delete',
      retentionMs: 7 * DAY_MS,
      retentionBytes: -1,
      timestampType: 'CreateTime',
    },
  ])
})
