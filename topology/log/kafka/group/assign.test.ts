import fc from 'fast-check'
import t from 'tap'
import { balancedPlacement } from '../../balanced-placement.js'
import type { TopicPartition } from '../../log.js'
import { assign } from './assign.js'
import type { Subscription } from './subscription.js'
import { decodeAssignment, decodeSubscription, encodeAssignment, encodeSubscription } from './subscription.js'

const nothing = Buffer.alloc(0)

type Held = Map<string, readonly TopicPartition[]>

/** One generation: everyone joins with what it holds, and lets go of what it is not given. */
function rebalance(held: Held, topics: ReadonlyMap<string, number>, generation: number): Held {
  const members = new Map<string, Subscription>(
    [...held].map(([id, owned]) => [id, { topics: [...topics.keys()], owned, generation, data: nothing }]),
  )
  return new Map([...assign(members, topics, balancedPlacement)].map(([id, { active }]) => [id, active]))
}

function settle(held: Held, topics: ReadonlyMap<string, number>): Held {
  const once = rebalance(held, topics, 1)
  return rebalance(once, topics, 2)
}

const names = (partitions: readonly TopicPartition[] = []): string[] =>
  partitions.map(({ topic, partition }) => `${topic}/${partition}`).sort()

t.test('a lone member gets everything', async (t) => {
  const assigned = rebalance(
    new Map([['a', []]]),
    new Map([
      ['x', 3],
      ['y', 1],
    ]),
    -1,
  )
  t.same(names(assigned.get('a')), ['x/0', 'x/1', 'x/2', 'y/0'])
})

t.test("what moves is nobody's for one generation, and the rest stays", async (t) => {
  const topics = new Map([['x', 4]])
  const alone = rebalance(new Map([['a', []]]), topics, -1)
  const joining = rebalance(new Map([...alone, ['b', []]]), topics, 1)
  t.same(names(joining.get('a')), ['x/0', 'x/1'])
  t.same(names(joining.get('b')), [])
  t.same(names(rebalance(joining, topics, 2).get('b')), ['x/2', 'x/3'])
})

t.test('who is to get what is not free yet stands by for it', async (t) => {
  const members = new Map([
    [
      'a',
      { topics: ['x'], owned: [0, 1].map((partition) => ({ topic: 'x', partition })), generation: 1, data: nothing },
    ],
    ['b', { topics: ['x'], owned: [], generation: 1, data: nothing }],
  ])
  const { active, standby } = assign(members, new Map([['x', 2]]), balancedPlacement).get('b')!
  t.same([names(active), names(standby)], [[], ['x/1']])
})

t.test('members come and go: balanced, whole, in one hand, and no more moves than needed', async () => {
  const arbitrary = fc.record({
    partitions: fc.integer({ min: 1, max: 24 }),
    steps: fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.boolean()), { minLength: 1, maxLength: 12 }),
  })
  fc.assert(
    fc.property(arbitrary, ({ partitions, steps }) => {
      const topics = new Map([
        ['input', partitions],
        ['journal', partitions],
      ])
      let held: Held = new Map([['z', []]])
      for (const [id, joins] of steps) {
        const before = new Map(held)
        if (joins) before.set(id, before.get(id) ?? [])
        else before.delete(id)
        if (before.size === 0) continue
        held = settle(before, topics)
        const all = [...held.values()].flat()
        t.equal(new Set(names(all)).size, 2 * partitions)
        t.equal(all.length, 2 * partitions)
        const counts = [...held.values()].map((owned) => owned.length)
        t.ok(Math.max(...counts) - Math.min(...counts) <= 2, `${counts.join()} are balanced`)
        for (const owned of held.values()) {
          const numbersOf = (of: string): number[] =>
            owned.flatMap(({ topic, partition }) => (topic === of ? [partition] : [])).sort((a, b) => a - b)
          t.same(numbersOf('input'), numbersOf('journal'), 'a journal and its input are together')
        }
        const floor = Math.floor(partitions / held.size)
        for (const [member, owned] of held) {
          const kept = owned.filter((now) => names(before.get(member)).includes(names([now])[0]!))
          t.ok(kept.length >= Math.min(before.get(member)?.length ?? 0, 2 * floor), `${member} keeps what it may`)
        }
      }
    }),
    { seed: 20260101 },
  )
})

t.test('of two who claim the same, the later assignment is right', async (t) => {
  const owned = [{ topic: 'x', partition: 0 }]
  const members = new Map([
    ['a', { topics: ['x'], owned, generation: 3, data: nothing }],
    ['b', { topics: ['x'], owned, generation: 5, data: nothing }],
  ])
  const assigned = assign(members, new Map([['x', 1]]), balancedPlacement)
  t.same([names(assigned.get('a')?.active), names(assigned.get('b')?.active)], [[], ['x/0']])
})

t.test('subscription and assignment come back as they were sent; foreign user data counts as none', async (t) => {
  const owned = [
    { topic: 'x', partition: 2 },
    { topic: '__proto__', partition: 0 },
    { topic: 'x', partition: 0 },
  ]
  const subscription = { topics: ['x', '__proto__'], owned, generation: 4, data: Buffer.from([0, 255, 10]) }
  const decoded = decodeSubscription(encodeSubscription(subscription))
  t.same({ ...decoded, owned: names(decoded.owned) }, { ...subscription, owned: names(owned) })
  const member = {
    id: 'm-1',
    data: Buffer.from([0, 255, 34, 92]),
    active: owned,
    standby: [{ topic: 'x', partition: 1 }],
  }
  const assignment = decodeAssignment(encodeAssignment(owned, [member]))
  t.same(names(assignment.active), names(owned))
  t.same(
    assignment.members.map((seen) => ({ ...seen, active: names(seen.active) })),
    [{ ...member, active: names(owned) }],
  )
  t.same(decodeAssignment(Buffer.alloc(0)), { active: [], members: [] })
  t.same(decodeAssignment(Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0])), { active: [], members: [] })
  const foreign = Buffer.from([0, 0, 0, 0, 0, 1, 0, 1, 120, 0, 0, 0, 1, 255])
  t.same(decodeSubscription(foreign), { topics: ['x'], owned: [], generation: -1, data: nothing })
})

t.test('what 20 members tell of 512 partitions fits in the one record that a broker keeps it in', (t) => {
  const [count, partitions] = [20, 512]
  const topics = ['trust-level', 'keep-alive', 'address-health'].map((domain) => `pulsefold-${domain}-journal`)
  const share = (member: number): TopicPartition[] =>
    topics.flatMap((topic) =>
      Array.from({ length: partitions }, (_, partition) => ({ topic, partition })).filter(
        ({ partition }) => partition % count === member % count,
      ),
    )
  const members = Array.from({ length: count }, (_, member) => {
    const [active, standby] = [share(member), share(member + 1)]
    const data = Buffer.from(JSON.stringify([...active, ...standby].map(({ partition }) => [partition, null])))
    return { id: `member-${member}`, data, active, standby }
  })
  const bytes = members.map(({ active, data }) => {
    const subscription = encodeSubscription({ topics, owned: active, generation: 7, data })
    return subscription.length + encodeAssignment(active, members).length
  })
  t.ok(bytes.reduce((sum, each) => sum + each) < 512 * 1024)
  t.end()
})
