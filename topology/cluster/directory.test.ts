import t from 'tap'
import type { MemberView } from '../log/log.js'
import { GroupDirectory } from './directory.js'
import { decodeMemberData, encodeMemberData } from './member-data.js'

const at = (topic: string, ...partitions: number[]): { topic: string; partition: number }[] =>
  partitions.map((partition) => ({ topic, partition }))

const lag = (
  partition: number,
  lagRecords: number | null,
): { domain: string; partition: number; lagRecords: number | null } => ({
  ...{ domain: 'calls', partition, lagRecords },
})

const view = (id: string, rest: Partial<MemberView>): MemberView => ({
  ...{ id, isSelf: false, active: [], standby: [] },
  data: encodeMemberData({ url: `http://${id}`, token: 'secret', stores: [] }),
  ...rest,
})

const directory = (): GroupDirectory =>
  new GroupDirectory((topic) => (topic.endsWith('-journal') ? topic.slice(0, -'-journal'.length) : undefined))

t.test('nobody holds anything before the first rebalance', async (t) => {
  t.same(directory().holders('calls', 0), { owner: undefined, standbys: [] })
  t.same(directory().instances, [])
})

t.test('owner and standbys of a partition, the standby with the least lag first', async (t) => {
  const subject = directory()
  const stores = (...held: ReturnType<typeof lag>[]): { data: Buffer } => ({
    data: encodeMemberData({ url: 'http://x', token: 'secret', stores: held }),
  })
  subject.update([
    view('a', { isSelf: true, active: [...at('calls-journal', 0), ...at('input', 0, 1)] }),
    view('b', { standby: at('calls-journal', 0), ...stores(lag(0, 70)) }),
    view('c', { standby: at('calls-journal', 0) }),
    view('d', { standby: at('calls-journal', 0, 1), ...stores(lag(1, null), lag(0, 3)) }),
  ])
  t.same(subject.holders('calls', 0), {
    owner: { url: 'http://a', token: 'secret', isSelf: true },
    standbys: [
      { url: 'http://x', token: 'secret', isSelf: false, lagRecords: 3 },
      { url: 'http://x', token: 'secret', isSelf: false, lagRecords: 70 },
      { url: 'http://c', token: 'secret', isSelf: false, lagRecords: Infinity },
    ],
  })
  t.same(subject.holders('calls', 1), {
    owner: undefined,
    standbys: [{ url: 'http://x', token: 'secret', isSelf: false, lagRecords: Infinity }],
  })
  t.same(subject.holders('input', 0), { owner: undefined, standbys: [] })
  t.equal(subject.instances.length, 4)
  subject.update([view('a', { isSelf: true })])
  t.same(subject.holders('calls', 0), { owner: undefined, standbys: [] }, 'what was known before is forgotten')
})

t.test('what an instance tells comes back as it was told; what is not ours counts as nothing told', async (t) => {
  const data = { url: 'https://pulsefold-0.example:8443/x', token: 'secret', stores: [lag(2, 0), lag(0, null)] }
  t.same(decodeMemberData(encodeMemberData(data)), data)
  for (const foreign of ['', '{}', '[]', '[1', '["http://a","secret",null]', 'null']) {
    t.same(decodeMemberData(Buffer.from(foreign)), { url: '', token: '', stores: [] }, foreign)
  }
})
