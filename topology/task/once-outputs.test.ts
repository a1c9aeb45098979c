import t from 'tap'
import { manualClock } from '../../common/manual-clock.js'
import { LogError } from '../log/errors.js'
import type { NewRecord, TransactionalWriter } from '../log/log.js'
import { OnceOutputs } from './once-outputs.js'
import type { Output } from './output-record.js'

const changelog = { topic: 'changelog', partition: 0 }

for (const isCommitted of [true, false]) {
  const what = isCommitted ? 'is committed is not sent again' : 'is not committed is sent again'
  t.test(`a transaction whose end was not answered and that ${what}`, async (t) => {
    const clock = manualClock()
    const { signal } = new AbortController()
    const topics: Record<string, NewRecord[]> = { changelog: [], alarms: [] }
    let isLost = true
    const writer: TransactionalWriter = {
      append(parts) {
        const isFailing = isLost && parts.length > 0
        const appended = parts.map(({ topic, records }) => {
          const baseOffset = topics[topic]!.length
          if (!isFailing || isCommitted) topics[topic]!.push(...records)
          return { baseOffset, timestamp: 0 }
        })
        if (!isFailing) return Promise.resolve(appended)
        isLost = false
        return Promise.reject(new LogError('LOG_UNAVAILABLE', 'the answer was lost'))
      },
      close: () => Promise.resolve(),
    }
    const outputs = new OnceOutputs({
      log: {
        offsets: () => Promise.resolve({ start: 0, end: topics['changelog']!.length }),
        read(at, offset) {
          const records = topics['changelog']!.map((record, i) => ({ offset: i, timestamp: 0, headers: [], ...record }))
          const end = records.length
          return Promise.resolve({ ...at, records: records.slice(offset), next: end, end })
        },
      },
      ...{ clock, writer, changelog, changelogFrom: 0, signal, giveUp: signal },
      position: { offset: 0, incarnation: 'x' },
      onRetry: () => undefined,
      encode: () => ({ key: null, value: Buffer.from('alarm') }),
      giveWay: () => Promise.resolve(),
      inTurn: (work) => Promise.resolve(work()),
    })
    const sent = outputs.send([
      { topic: 'alarms', partition: 0, made: { position: { offset: 4, index: 0 } } as Output },
    ])
    outputs.recordsFolded(5)
    await clock.advance(1000)
    await sent
    t.equal(topics['alarms']!.length, 1)
    t.equal(outputs.outUpTo, 5)
  })
}

t.test('behind a portion that is given up nothing is sent: it would count as out', async (t) => {
  const clock = manualClock()
  const giveUp = new AbortController()
  let appends = 0
  const outputs = new OnceOutputs({
    log: { offsets: () => Promise.reject(new Error('not asked')), read: () => Promise.reject(new Error('not asked')) },
    writer: {
      append: () => {
        appends++
        return Promise.reject(new LogError('LOG_UNAVAILABLE', 'it does not answer'))
      },
      close: () => Promise.resolve(),
    },
    ...{ clock, changelog, changelogFrom: 0, signal: new AbortController().signal, giveUp: giveUp.signal },
    position: { offset: 0, incarnation: 'x' },
    onRetry: () => undefined,
    encode: () => ({ key: null, value: Buffer.from('alarm') }),
    giveWay: () => Promise.resolve(),
    inTurn: (work) => Promise.resolve(work()),
  })
  const send = (offset: number): Promise<void> =>
    outputs.send([{ topic: 'alarms', partition: 0, made: { position: { offset, index: 0 } } as Output }])
  giveUp.abort()
  const first = send(1)
  outputs.recordsFolded(2)
  const second = send(2)
  await t.rejects(first, { code: 'LOG_UNAVAILABLE' })
  outputs.recordsFolded(3)
  await t.rejects(second, { code: 'LOG_UNAVAILABLE' })
  await t.rejects(send(3), { code: 'LOG_UNAVAILABLE' })
  t.equal(appends, 1)
  t.equal(outputs.outUpTo, 0)
})
