import fc from 'fast-check'
import t from 'tap'
import type { Candidate, Share, TopicPartition } from '../log/log.js'
import { encodeMemberData } from './member-data.js'
import { clusterPlacement, WARM_LAG_RECORDS } from './placement.js'

const topics = ['calls-journal', 'input', 'links-journal']
const domains = ['calls', 'links']
/** Of each of the two domains. */
const warm = WARM_LAG_RECORDS / 2
const cold = warm + 1

interface Member {
  readonly id: string
  readonly owned?: readonly number[]
  /** Lag of the copies of units, in each domain; null: not known. What is owned needs no mention. */
  readonly lags?: Readonly<Record<number, number | null>>
  readonly isSilent?: true
}

const at = (units: readonly number[], of: readonly string[]): TopicPartition[] =>
  units.flatMap((partition) => of.map((topic) => ({ topic, partition })))

function candidate({ id, owned = [], lags = {}, isSilent }: Member): Candidate {
  const copies: (readonly [number, number | null])[] = [
    ...Object.entries(lags).map(([unit, lag]) => [Number(unit), lag] as const),
    ...owned.map((unit) => [unit, 0] as const),
  ]
  const stores = copies.flatMap(([partition, lagRecords]) =>
    domains.map((domain) => ({ domain, partition, lagRecords })),
  )
  const data = isSilent ? Buffer.alloc(0) : encodeMemberData({ url: `http://${id}`, token: '', stores })
  return { id, topics, data, owned: at(owned, topics) }
}

function place(members: readonly Member[], units: number, standbyReplicas = 1): ReadonlyMap<string, Share> {
  const placement = clusterPlacement({ standbyReplicas, isJournal: (topic) => topic.endsWith('-journal') })
  return placement(members.map(candidate), new Map(topics.map((topic) => [topic, units])))
}

const unitsOf = (partitions: readonly TopicPartition[] = []): number[] =>
  [...new Set(partitions.map(({ partition }) => partition))].sort((a, b) => a - b)

/** `owner: units; standby units` of each member. */
const told = (shares: ReadonlyMap<string, Share>): string[] =>
  [...shares].map(([id, { active, standby }]) => `${id}: ${unitsOf(active).join()}; ${unitsOf(standby).join()}`)

const lagsOf = (units: readonly number[], lag: number | null): Record<number, number | null> =>
  Object.fromEntries(units.map((unit) => [unit, lag]))

const cases: readonly {
  readonly name: string
  readonly members: readonly Member[]
  readonly units?: number
  readonly standbyReplicas?: number
  readonly placed: readonly string[]
}[] = [
  { name: 'alone it has everything, and nobody stands by', members: [{ id: 'a' }], placed: ['a: 0,1,2,3; '] },
  {
    name: 'where nobody has any state all begin at once',
    members: [{ id: 'a' }, { id: 'b' }],
    placed: ['a: 0,1; 2,3', 'b: 2,3; 0,1'],
  },
  {
    name: 'after a stop of all, each begins with what rests on its disk',
    members: [
      { id: 'a', lags: { 1: null, 3: null } },
      { id: 'b', lags: { 0: null, 2: null } },
    ],
    placed: ['a: 1,3; 0,2', 'b: 0,2; 1,3'],
  },
  {
    name: 'a new instance stands by for all before it owns anything',
    members: [{ id: 'a', owned: [0, 1, 2, 3] }, { id: 'b' }],
    placed: ['a: 0,1,2,3; ', 'b: ; 0,1,2,3'],
  },
  {
    name: 'what it has caught up with moves to it, up to its share; the former owner stands by',
    members: [
      { id: 'a', owned: [0, 1, 2, 3] },
      { id: 'b', lags: { 0: cold, 1: 5, 2: warm, 3: 7 } },
    ],
    placed: ['a: 0,2; 1,3', 'b: 1,3; 0,2'],
  },
  {
    name: 'what it lags behind in stays',
    members: [
      { id: 'a', owned: [0, 1, 2, 3] },
      { id: 'b', lags: { 0: cold, 1: cold, 2: null, 3: warm } },
    ],
    placed: ['a: 0,1,2; 3', 'b: 3; 0,1,2'],
  },
  {
    name: 'what nobody owns goes to the standby with the least lag',
    members: [
      { id: 'a', owned: [0, 1] },
      { id: 'b', owned: [2], lags: { 4: 4, 5: 9 } },
      { id: 'c', owned: [3], lags: { 4: 5, 5: 8 } },
    ],
    units: 6,
    placed: ['a: 0,1; 2,3', 'b: 2,4; 0,5', 'c: 3,5; 1,4'],
  },
  {
    name: 'rather to a warm standby beyond its share than to one that must restore; that one stands by next',
    members: [{ id: 'a', owned: [0, 1], lags: { 2: 3, 3: 3 } }, { id: 'b' }],
    placed: ['a: 0,1,2,3; ', 'b: ; 0,1,2,3'],
  },
  {
    name: 'where nobody is warm, to whom has some copy',
    members: [{ id: 'a' }, { id: 'b', lags: { 0: null, 1: 3 * cold } }, { id: 'c', lags: { 2: cold } }],
    units: 3,
    placed: ['a: 0; 2', 'b: 1; 0', 'c: 2; 1'],
  },
  {
    name: 'an instance that tells nothing gets its share at once',
    members: [
      { id: 'a', owned: [0, 1, 2, 3] },
      { id: 'b', isSilent: true },
    ],
    placed: ['a: 0,1; 2,3', 'b: 2,3; 0,1'],
  },
  {
    name: 'without standbys a new instance still gets copies of what it is to own',
    members: [{ id: 'a', owned: [0, 1, 2, 3] }, { id: 'b' }],
    standbyReplicas: 0,
    placed: ['a: 0,1,2,3; ', 'b: ; 2,3'],
  },
  {
    name: 'who has a copy keeps it',
    members: [
      { id: 'a', owned: [0, 1], lags: { 2: 0 } },
      { id: 'b', owned: [2, 3], lags: { 1: 0 } },
      { id: 'c', owned: [4, 5], lags: { 0: 0, 3: 0 } },
    ],
    units: 6,
    placed: ['a: 0,1; 2,4', 'b: 2,3; 1,5', 'c: 4,5; 0,3'],
  },
]

for (const { name, members, units = 4, standbyReplicas = 1, placed } of cases) {
  t.test(name, async (t) => {
    t.same(told(place(members, units, standbyReplicas)), placed)
  })
}

t.test('of the inputs there are no standbys; a journal, its inputs and the other journals are together', async (t) => {
  const shares = place([{ id: 'a' }, { id: 'b' }], 3)
  for (const { active, standby } of shares.values()) {
    for (const unit of unitsOf(active)) {
      t.same(active.flatMap(({ topic, partition }) => (partition === unit ? [topic] : [])).sort(), topics)
    }
    t.notOk(standby.some(({ topic }) => topic === 'input'))
  }
})

t.test(
  'an input with more partitions than the journals counts by itself: each instance has its part of the tasks',
  async (t) => {
    const placement = clusterPlacement({ standbyReplicas: 1, isJournal: (topic) => topic.endsWith('-journal') })
    const partitionsOf = new Map(topics.map((topic) => [topic, topic === 'input' ? 12 : 6]))
    const journalsOf = ({ active, standby }: Share): number[][] =>
      [active, standby].map((held) => unitsOf(held.filter(({ topic }) => topic === 'calls-journal')))
    const first = [...placement([{ id: 'a' }, { id: 'b' }].map(candidate), partitionsOf).entries()]
    t.same(
      first.map(([id, share]) => [id, ...journalsOf(share), unitsOf(share.active).length]),
      [
        ['a', [0, 1, 2], [3, 4, 5], 6],
        ['b', [3, 4, 5], [0, 1, 2], 6],
      ],
    )
    // It began alone, and the other has caught up.
    const tasks = [0, 1, 2, 3, 4, 5]
    const alone = { ...candidate({ id: 'a', owned: tasks }), owned: at([...tasks, 6, 7, 8, 9, 10, 11], topics) }
    for (const share of placement([alone, candidate({ id: 'b', lags: lagsOf(tasks, 0) })], partitionsOf).values()) {
      t.same([journalsOf(share)[0]?.length, unitsOf(share.active).length], [3, 6])
    }
  },
)

const memberIds = ['a', 'b', 'c', 'd', 'e']
const situations = fc
  .record({ units: fc.integer({ min: 1, max: 24 }), members: fc.integer({ min: 1, max: 5 }) })
  .chain(({ units, members }) =>
    fc.record({
      units: fc.constant(units),
      standbyReplicas: fc.integer({ min: 0, max: 2 }),
      owners: fc.array(fc.integer({ min: -1, max: members - 1 }), { minLength: units, maxLength: units }),
      lags: fc.array(
        fc.array(fc.constantFrom(undefined, null, 0, 17, warm, cold), { minLength: units, maxLength: units }),
        { minLength: members, maxLength: members },
      ),
    }),
  )
  .map(({ units, standbyReplicas, owners, lags }) => ({
    units,
    standbyReplicas,
    members: lags.map((own, i): Member => ({
      id: memberIds[i] ?? '',
      owned: owners.flatMap((owner, unit) => (owner === i ? [unit] : [])),
      lags: Object.fromEntries(
        own.flatMap((lag, unit) => (lag === undefined || owners[unit] === i ? [] : [[unit, lag]])),
      ),
    })),
  }))

const holderOf = (shares: ReadonlyMap<string, Share>, unit: number): string | undefined =>
  [...shares].find(([, { active }]) => active.some(({ partition }) => partition === unit))?.[0]

t.test(
  'whatever they hold: one owner each, another as standby, nothing to a cold copy while its owner lives',
  async (t) => {
    fc.assert(
      fc.property(situations, ({ units, members, standbyReplicas }) => {
        const shares = place(members, units, standbyReplicas)
        const all = [...shares.values()].flatMap(({ active }) =>
          active.map((held) => `${held.topic}/${held.partition}`),
        )
        if (all.length !== units * topics.length || new Set(all).size !== all.length) return false
        t.same(told(place([...members].reverse(), units, standbyReplicas)).sort(), told(shares).sort(), 'in any order')
        for (let unit = 0; unit < units; unit++) {
          const owner = holderOf(shares, unit)
          const standbys = [...shares].flatMap(([id, { standby }]) => (unitsOf(standby).includes(unit) ? [id] : []))
          if (standbys.includes(owner ?? '')) return false
          if (standbys.length < Math.min(standbyReplicas, members.length - 1)) return false
          if (standbys.length > Math.max(standbyReplicas, 1)) return false
          const former = members.find(({ owned }) => owned?.includes(unit) === true)
          const lag = members.find(({ id }) => id === owner)?.lags?.[unit]
          const isWarm = typeof lag === 'number' && lag <= warm
          if (former !== undefined && former.id !== owner && !isWarm) return false
        }
        return true
      }),
      { seed: 20261130, numRuns: 500 },
    )
  },
)

t.test('in a few rebalances all is balanced within one, and then nothing moves any more', async () => {
  fc.assert(
    fc.property(situations, ({ units, members, standbyReplicas }) => {
      let now = members
      let before = ''
      for (let round = 0; round < 6; round++) {
        const shares = place(now, units, standbyReplicas)
        const after = told(shares).join('\n')
        if (after === before) {
          const counts = [...shares.values()].map(({ active }) => unitsOf(active).length)
          return Math.max(...counts) - Math.min(...counts) <= 1
        }
        before = after
        // Copies catch up; those that are not wanted any more are closed.
        now = now.map(({ id }) => ({
          id,
          owned: unitsOf(shares.get(id)?.active),
          lags: lagsOf(unitsOf(shares.get(id)?.standby), 0),
        }))
      }
      return false
    }),
    { seed: 20261130, numRuns: 500 },
  )
})

t.test('with warm copies everywhere: balanced within one, and each keeps what it may', async () => {
  fc.assert(
    fc.property(situations, ({ units, members }) => {
      const warmed = members.map(({ id, owned = [] }) => {
        const others = Array.from({ length: units }, (_, unit) => unit).filter((unit) => !owned.includes(unit))
        return { id, owned, lags: lagsOf(others, 0) }
      })
      const shares = place(warmed, units)
      const counts = [...shares.values()].map(({ active }) => unitsOf(active).length)
      if (Math.max(...counts) - Math.min(...counts) > 1) return false
      return warmed.every(({ id, owned }) => {
        const kept = unitsOf(shares.get(id)?.active).filter((unit) => owned.includes(unit))
        return kept.length >= Math.min(owned.length, Math.floor(units / warmed.length))
      })
    }),
    { seed: 20261130, numRuns: 500 },
  )
})

t.test('standbys are spread: no member has many more than its part', async () => {
  fc.assert(
    fc.property(situations, ({ units, members, standbyReplicas }) => {
      const warmed = members.map(({ id }) => ({ id }))
      const shares = place(warmed, units, standbyReplicas)
      const counts = [...shares.values()].map(({ standby }) => unitsOf(standby).length)
      const needed = Math.min(standbyReplicas, members.length - 1)
      return Math.max(...counts) <= Math.ceil((units * needed) / members.length) + 1
    }),
    { seed: 20261130, numRuns: 500 },
  )
})
