import type { GroupMember, MemberView, Placement, TopicPartition } from '../log.js'
import type { ContractCase } from './harness.js'
import { createTopic, gate, join, newName, RecordingListener } from './harness.js'

/** Members whose data begins alike see each other so: what each told, holds and stands by for. */
function seenBy(member: GroupMember): string[] {
  const numbers = (partitions: readonly TopicPartition[]): string =>
    partitions
      .map(({ partition }) => partition)
      .sort((a, b) => a - b)
      .join()
  return member
    .members()
    .map(
      ({ data, active, standby, isSelf }) =>
        `${data.toString()}${isSelf ? ' itself' : ''}: ${numbers(active)}; ${numbers(standby)}`,
    )
    .sort()
}

/** Each partition goes to the member that names it; those named in brackets are stood by for. */
const asTold: Placement = (candidates, partitionsOf) => {
  const [topic = ''] = partitionsOf.keys()
  const partitions = (numbers: string): TopicPartition[] =>
    Array.from(numbers, (digit) => ({ topic, partition: Number(digit) }))
  return new Map(
    candidates.map(({ id, data }) => {
      const [, active = '', standby = ''] = /^(\d*)(?:\[(\d*)\])?$/.exec(data.toString()) ?? []
      return [id, { active: partitions(active), standby: partitions(standby) }]
    }),
  )
}

export const memberCases: readonly ContractCase[] = [
  {
    name: 'every member sees all members, what they tell and what they hold, after each rebalance',
    async run(t, harness) {
      const log = await harness.open(t)
      const options = { topics: [await createTopic(log, { partitions: 2 })], group: newName() }
      const [a, b] = [new RecordingListener(), new RecordingListener()]
      let told = 'größe ✓'
      const memberA = await join(t, log, a, { ...options, describe: () => Buffer.from(told) })
      await a.until(() => memberA.members().length === 1)
      t.same(seenBy(memberA), ['größe ✓ itself: 0,1; '])
      t.ok(memberA.isCurrent)
      const memberB = await join(t, log, b, options)
      const isShared = (member: GroupMember): boolean =>
        member.members().length === 2 && member.members().every(({ active }) => active.length === 1)
      await Promise.all([a.until(() => isShared(memberA)), b.until(() => isShared(memberB))])
      for (const member of [memberA, memberB]) {
        const own = member.members().find(({ isSelf }) => isSelf)
        t.same(own?.active, member.assignment)
      }
      t.same(seenBy(memberB), [' itself: 1; ', 'größe ✓: 0; '])
      told = 'news'
      memberA.rejoin()
      const hasNews = (members: readonly MemberView[]): boolean =>
        members.some(({ data }) => data.toString() === 'news')
      await b.until(() => hasNews(memberB.members()) && isShared(memberB))
      t.same(seenBy(memberB), [' itself: 1; ', 'news: 0; '])
      t.same(b.partitions('revoked'), [], 'a rebalance that changes nothing revokes nothing')
      await memberB.leave()
      t.notOk(memberB.isCurrent)
      await a.until(() => memberA.members()[0]?.active.length === 2)
      t.same(seenBy(memberA), ['news itself: 0,1; '])
    },
  },
  {
    name: 'the placement decides what a member holds and stands by for; it learns it between letting go and taking',
    async run(t, harness) {
      const log = await harness.open(t)
      const options = { topics: [await createTopic(log, { partitions: 3 })], group: newName(), placement: asTold }
      const [a, b] = [new RecordingListener(), new RecordingListener()]
      let tells = ['012', '[01]']
      const memberA = await join(t, log, a, { ...options, describe: () => Buffer.from(tells[0] ?? '') })
      await a.until(() => memberA.assignment.length === 3)
      const memberB = await join(t, log, b, { ...options, describe: () => Buffer.from(tells[1] ?? '') })
      await b.until(() => memberB.members().length === 2)
      t.same(seenBy(memberB), ['012: 0,1,2; ', '[01] itself: ; 0,1'])
      tells = ['1[0]', '02']
      memberB.rejoin()
      await Promise.all([
        a.until(() => memberA.members().some(({ active }) => active.length === 2)),
        b.until((seen) => seen.partitions('assigned').length === 2),
      ])
      t.same(seenBy(memberA), ['02: 0,2; ', '1[0] itself: 1; 0'])
      t.same(memberB.assignment.map(({ partition }) => partition).sort(), [0, 2])
      const calls = a.seen.map(({ call }) => call)
      t.equal(calls[calls.indexOf('revoked') + 1], 'members', 'told when it has let go')
      const others = b.seen.map(({ call }) => call)
      t.equal(others[others.indexOf('assigned') - 1], 'members', 'told before it is given')
      t.same([...a.errors(), ...b.errors()], [])
    },
  },
  {
    name: 'what is about to go is told while it is still being taken, so that this can end',
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log, { partitions: 2 })
      const ended = gate()
      const listener = new RecordingListener({
        onAssigned: () => ended.opened.then(() => Promise.reject(new Error('ended'))),
      })
      const member = await join(t, log, listener, { topics: [topic] })
      await listener.until((seen) => seen.partitions('assigned').length === 2)
      const leaving = member.leave()
      await listener.until((seen) => seen.seen.some(({ call }) => call === 'revoking'))
      t.same(listener.partitions('revoked'), [])
      ended.open()
      await leaving
      t.same(listener.partitions('revoked'), [0, 1])
      t.same(listener.batches(), [])
    },
  },
]
