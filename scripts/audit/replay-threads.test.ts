import t from 'tap'
import { settingsWith } from '../../common/settings.js'
import type { JournalReader } from '../../topology/audit/journal-source.js'
import type { Replayer } from '../../topology/audit/replay-journals.js'
import { startReplayThreads } from './replay-threads.js'

const journal = { topic: 'pulsefold-trust-level-journal', partition: 0 }
const emptyJournal: JournalReader = {
  topic: () => Promise.resolve(undefined),
  offsets: () => Promise.resolve({ start: 0, end: 0 }),
  offsetForTime: () => Promise.resolve(0),
  read: () => Promise.reject(new Error('there is nothing to read')),
}

t.test('each thread folds what it is told, one journal after the other', async (t) => {
  const threads = await startReplayThreads(emptyJournal, settingsWith({}), 2)
  t.teardown(() => threads.close())
  const replayed = await Promise.all(
    threads.replayers.map(async (replay, partition) => {
      const told = { domain: 'trust-level', journal: { ...journal, partition }, end: 0 }
      return [await replay(told, () => undefined), await replay(told, () => undefined)] as const
    }),
  )
  t.match(replayed, [
    [{ partition: 0, entries: 0 }, { partition: 0 }],
    [{ partition: 1, entries: 0 }, { partition: 1 }],
  ])
})

t.test('what fails in a thread rejects the replay', async (t) => {
  const threads = await startReplayThreads(emptyJournal, settingsWith({}), 1)
  t.teardown(() => threads.close())
  const [replay] = threads.replayers as [Replayer]
  await t.rejects(
    replay({ domain: 'unknown', journal, end: 0 }, () => undefined),
    { message: /no domain unknown/, code: 'AUDIT_NOTHING_TO_READ' },
  )
})
