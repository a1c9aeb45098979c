import t from 'tap'
import type { LogRecord } from '../../log/log.js'
import { judgeSource, nextIncarnation } from './judge-source.js'
import type { Evidence, Judgement } from './judge-source.js'
import { positionBehind } from './taken.js'

const record = (value: string, more: Partial<LogRecord> = {}): LogRecord => {
  return { offset: 9, timestamp: 5, key: null, value: Buffer.from(value), headers: [], ...more }
}
const left = { topicId: 'T', registered: 'T', position: positionBehind(record('x'), 10, 'T'), start: 3, end: 20 }
const go = (from: number, incarnation = 'T'): Judgement => ({ kind: 'go', from, incarnation })

const cases: readonly { name: string; evidence: Partial<Evidence>; expected: Judgement | RegExp }[] = [
  { name: 'it is where it was', evidence: {}, expected: go(10) },
  { name: 'it ends right behind the record last taken', evidence: { end: 10 }, expected: go(10) },
  { name: 'it was never read', evidence: { registered: undefined, position: undefined }, expected: go(3) },
  {
    name: 'another had read it before us',
    evidence: { registered: undefined, position: { offset: 7, metadata: '' } },
    expected: go(7),
  },
  { name: "the group's position has gone with time", evidence: { position: undefined }, expected: go(3) },
  { name: 'the position has no note', evidence: { position: { offset: 7, metadata: '' } }, expected: go(7) },
  {
    name: 'the record last taken was deleted by retention',
    evidence: { start: 15, lastTaken: undefined },
    expected: go(10),
  },
  { name: 'the topic was made anew', evidence: { topicId: 'U', position: undefined }, expected: /made anew/ },
  { name: 'it was cut short', evidence: { end: 9, lastTaken: undefined }, expected: /ends at offset 9, and 9 was/ },
  { name: 'another value stands there', evidence: { lastTaken: record('y') }, expected: /another record at offset 9/ },
  {
    name: 'another time stands there',
    evidence: { lastTaken: record('x', { timestamp: 6 }) },
    expected: /another record/,
  },
  {
    name: 'another header stands there',
    evidence: { lastTaken: record('x', { headers: [['a', Buffer.from('b')]] }) },
    expected: /another record/,
  },
  { name: 'an operator began it anew', evidence: { registered: 'T+2' }, expected: go(3, 'T+2') },
  { name: 'an operator took on a new topic', evidence: { topicId: 'U', registered: 'U' }, expected: go(3, 'U') },
]
for (const { name, evidence, expected } of cases) {
  t.test(`a source where ${name}`, async (t) => {
    const judged = judgeSource({ ...left, lastTaken: record('x'), ...evidence })
    if (expected instanceof RegExp) t.match(judged, { kind: 'stop', reason: expected })
    else t.strictSame(judged, expected)
  })
}

t.test("an operator's incarnations differ from all before", async (t) => {
  t.equal(nextIncarnation('U', 'T'), 'U')
  t.equal(nextIncarnation('T', undefined), 'T')
  t.equal(nextIncarnation('T', 'T'), 'T+2')
  t.equal(nextIncarnation('T', 'T+2'), 'T+3')
})

t.test('the record last taken is known again by what earlier versions have written down of it', (t) => {
  const headers: LogRecord['headers'] = [
    ['ce_id', Buffer.from([1, 200, 255])],
    ['größe', Buffer.alloc(0)],
  ]
  const checksums = [record('xé', { headers }), record('', { headers, key: Buffer.from('k'), value: null })].map(
    (taken) => (JSON.parse(positionBehind(taken, 10, 'T').metadata) as { readonly checksum: string }).checksum,
  )
  t.same(checksums, ['Akv/hFzlTu+5nICU', 'dJptcQh88xJ3hRkM'])
  t.end()
})
