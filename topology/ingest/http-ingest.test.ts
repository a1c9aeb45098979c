import t from 'tap'
import { LogError } from '../log/errors.js'
import { httpIngest } from './http-ingest.js'

const event = { key: 'a', event: { type: 'Counted', data: {} }, original: null }
const unwanted = (): never => {
  throw new Error('nothing may be appended')
}
const writer = { append: unwanted, collect: unwanted, stop: () => undefined }

t.test('events that come before a journal is made, or has had an owner, are refused for now', async (t) => {
  for (const offsets of [
    () => Promise.reject(new LogError('TOPIC_UNKNOWN', 'no such topic')),
    () => Promise.resolve({ start: 0, end: 0 }),
  ]) {
    const ingest = httpIngest({ offsets })
    await t.rejects(ingest({ journalTopic: 'journal', writers: [writer] }, [event]), { code: 'LOG_UNAVAILABLE' })
  }
})

t.test('what else keeps the log from telling is told as it is', async (t) => {
  const ingest = httpIngest({ offsets: () => Promise.reject(new LogError('LOG_CLOSED', 'closed')) })
  await t.rejects(ingest({ journalTopic: 'journal', writers: [writer] }, [event]), { code: 'LOG_CLOSED' })
})
