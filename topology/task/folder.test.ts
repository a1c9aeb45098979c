import t from 'tap'
import { createStoreDigest } from '../../state-stores/digest.js'
import { memoryProvider } from '../../state-stores/memory/provider.js'
import { counts, countingProcessor, totals } from '../counting-processor.js'
import type { Counted } from '../counting-processor.js'
import { blockCodec } from '../journal/block-codec.js'
import type { EventEntry, JournalEntry, OwnerEntry, TimerEntry } from '../journal/entry.js'
import type { FoldContext, JournalEvent, Processor, Table } from '../processor.js'
import { Folder } from './folder.js'
import type { Consequence, Folded } from './folder.js'
import { freeze } from './freeze.js'
import { sendableOutput } from './output-record.js'
import { RowStore } from './row-store.js'
import { foldSegment } from './segment.js'
import { deadlineKey, engineTables } from './table-runtime.js'

const HOUR_MS = 3_600_000
let sources = 0

const event = (key: string, mode = '', more: Partial<EventEntry> = {}): EventEntry => ({
  kind: 'event',
  source: { source: 'count-me/0@x', offset: ++sources, index: 0 },
  event: { type: 'Counted', data: { key, mode } },
  ...more,
})
const timer = (due: number, id: string, epoch = 0): TimerEntry => ({
  kind: 'timer',
  source: { source: 'http/a', offset: ++sources, index: 0 },
  due,
  id,
  epoch,
})
const owner = (epoch: number, instance = 'me', settings = '{}'): OwnerEntry => ({
  kind: 'owner',
  source: { source: `http/${instance}`, offset: ++sources, index: 0 },
  epoch,
  foldVersion: 7,
  settings,
  preloaded: false,
  instance,
})

class Subject {
  readonly rows: RowStore
  readonly folder: Folder
  readonly counted: string[] = []
  consequences: Consequence[] = []
  readonly told: Folded[] = []
  #offset = 0

  private constructor(rows: RowStore, processor: Processor) {
    this.rows = rows
    const state = { time: 0, epoch: 0, foldVersion: 1, settings: null }
    this.folder = new Folder(
      {
        processor,
        partition: 2,
        journal: 'journal',
        rows,
        codec: blockCodec(processor.events),
        onConsequence: (consequence) => this.consequences.push(consequence),
        onCount: (counter, label) => this.counted.push(`${counter} ${label}`),
        onFolded: (folded) => this.told.push(folded),
      },
      state,
    )
  }

  static async create(change: Partial<Processor> = {}): Promise<Subject> {
    const processor = { ...(countingProcessor as Processor), ...change }
    const store = await memoryProvider().open('rows')
    return new Subject(new RowStore(store, processor.tables, 0), processor)
  }

  /** One journal record; answers the consequences. */
  async fold(entries: JournalEntry | readonly JournalEntry[], timestamp = 1000): Promise<Consequence[]> {
    const offset = this.#offset++
    this.consequences = []
    for (const [index, entry] of [entries].flat().entries()) {
      await foldSegment(this.rows, this.folder, [
        {
          entry: entry,
          position: { offset, index },
          timestamp,
          reads: this.folder.reads(entry),
        },
      ])
    }
    return this.consequences
  }

  async row<Row>(table: Table<Row>, key: string): Promise<Row | undefined> {
    return (await this.rows.read(this.rows.state(table), key)) as Row | undefined
  }

  async count(key: string): Promise<number | undefined> {
    return (await this.row(counts, key))?.count
  }

  kinds(): string[] {
    return this.consequences.map(({ kind }) => kind)
  }
}

t.test('a source position that is not higher than the highest taken is a repeat', async (t) => {
  const s = await Subject.create()
  const at = (offset: number, index: number, source = 'count-me/0@x'): Partial<EventEntry> => ({
    source: { source, offset, index },
  })
  const cases: readonly (readonly [entry: EventEntry, isNew: boolean])[] = [
    [event('a', '', at(5, 3)), true],
    [event('a', '', at(5, 3)), false],
    [event('a', '', at(5, 2)), false],
    [event('a', '', at(4, 9)), false],
    [event('a', '', at(5, 4)), true],
    [event('a', '', at(6, 0)), true],
    [event('a', '', at(1, 0, 'count-me/1@x')), true],
    [event('a', '', at(1, 0, 'count-me/0@y')), true],
    [event('a', '', at(6, 0)), false],
  ]
  let expected = 0
  for (const [entry, isNew] of cases) {
    const made = await s.fold(entry)
    if (isNew) expected++
    t.equal(await s.count('a'), expected, JSON.stringify(entry.source))
    t.equal(made.length > 0, isNew)
  }
  t.equal(s.counted.filter((text) => text === 'repeated event').length, cases.length - expected)
})

t.test('time is the highest stamp so far', async (t) => {
  const s = await Subject.create()
  for (const [stamp, time] of [
    [5000, 5000],
    [4000, 5000],
    [5001, 5001],
    [-1, 5001],
  ] as const) {
    await s.fold(event('a'), stamp)
    t.equal(s.folder.state.time, time)
  }
})

t.test('a fold that throws changes nothing, and its event is dead-lettered once', async (t) => {
  const s = await Subject.create({
    evolve(given: JournalEvent, context: FoldContext) {
      countingProcessor.evolve({ ...(given as Counted), data: { key: 'a', mode: 'timer' } }, context)
      context.request({ id: 'effect', kind: 'echo', target: 'a', payload: {} })
      context.count('counted', 'never')
      throw new Error('halfway')
    },
  })
  const entry = event('a', 'timer', { commandId: 'c' })
  t.match(await s.fold(entry), [
    { kind: 'failed', error: { message: 'halfway' } },
    { kind: 'deadLetter', problem: { code: 'FOLD_FAILED', message: 'Counted: "halfway"' }, position: { offset: 0 } },
    { kind: 'answer', commandId: 'c', failed: true },
  ])
  t.equal(await s.count('a'), undefined)
  t.equal(s.rows.state(totals as Table<unknown>).resident?.size, 0)
  t.equal(s.rows.state(engineTables.owed).resident?.size, 0)
  t.equal(await s.row(engineTables.deadlines, deadlineKey(2000, 'wake/a')), undefined)
  t.same(s.counted, [])
  t.same(await s.fold(entry), [], 'its repeat is dropped')
})

t.test('a fold that reads a row which it did not declare fails with ROW_NOT_DECLARED', async (t) => {
  const s = await Subject.create()
  t.match(await s.fold(event('a', 'undeclared')), [
    { kind: 'failed', error: { code: 'ROW_NOT_DECLARED' } },
    { kind: 'deadLetter', problem: { code: 'FOLD_FAILED' } },
  ])
  const foreign = { ...counts, name: 'foreign' } as Table<unknown>
  const written = await Subject.create({ evolve: (_event, context) => context.put(foreign, 'a', {}) })
  t.match(await written.fold(event('a')), [{ error: { code: 'ROW_NOT_DECLARED' } }, { kind: 'deadLetter' }])
})

t.test('what makes a processor fail outside its fold fails the event, not the partition', async (t) => {
  const throws = (): never => {
    throw new Error('no such field')
  }
  const foreign = { ...counts, name: 'foreign' } as Table<unknown>
  const range = { limit: 1 }
  const table = counts as Table<unknown>
  const cases: readonly (readonly [what: string, change: Partial<Processor>])[] = [
    ['reads throws', { reads: throws }],
    ['reads names a foreign table', { reads: () => ({ rows: [{ table: foreign, key: 'a' }] }) }],
    [
      'the scan names a foreign table',
      { reads: () => ({ rows: [], scan: { table: foreign, index: 'byCount', range } }) },
    ],
    ['the scan names no index', { reads: () => ({ rows: [], scan: { table, index: 'none', range } }) }],
    ['thenRows throws', { reads: () => ({ rows: [], scan: { table, index: 'byCount', range, thenRows: throws } }) }],
    [
      'thenRows names a foreign table',
      {
        reads: () => ({
          rows: [],
          scan: { table, index: 'byCount', range, thenRows: () => [{ table: foreign, key: 'a' }] },
        }),
      },
    ],
    ['a send does not fit its schema', { evolve: (_e, c) => c.send('a', { type: 'Counted', data: { key: 5 } }) }],
    ['a send is of no known type', { evolve: (_e, c) => c.broadcast({ type: 'Other', data: {} }) }],
    [
      'a send is too large',
      { evolve: (_e, c) => c.send('a', { type: 'Counted', data: { key: 'x'.repeat(1_100_000), mode: '' } }) },
    ],
    [
      'an output is too large',
      { evolve: (_e, c) => c.emit({ topic: 'out' }, { key: 'a', value: Buffer.alloc(1_100_000), headers: [] }) },
    ],
    ['an answer is no JSON', { evolve: (_e, c) => c.answer({ big: 1n }) }],
    [
      'an effect is no JSON',
      { evolve: (_e, c) => c.request({ id: 'a', kind: 'echo', target: 'a', payload: { big: 1n } }) },
    ],
    [
      'a row does not fit its schema',
      {
        evolve: (_e, c) => c.put(counts, 'a', { count: 'x' } as never),
        reads: () => ({ rows: [{ table, key: 'a' }] }),
      },
    ],
  ]
  for (const [what, change] of cases) {
    const s = await Subject.create(change)
    const made = await s.fold(event('a', '', { commandId: 'c' }))
    t.same(
      made.map(({ kind }) => kind),
      ['failed', 'deadLetter', 'answer'],
      what,
    )
    t.doesNotThrow(() => freeze(s.rows.tables, createStoreDigest()), `${what}: the commit is not hurt`)
  }
})

t.test('a deadline fires once, when it is armed, due, and of the owner', async (t) => {
  const s = await Subject.create()
  await s.fold(event('a', 'timer'), 1000)
  const { due } = (await s.row(counts, 'a'))!
  const woken = async (): Promise<number | undefined> => (await s.row(counts, 'a'))?.woken
  t.same(await s.fold(timer(due, 'wake/a'), due - 1), [], 'not due: it stays armed, to be sent again')
  t.equal(await woken(), 0)
  t.match(await s.fold(timer(due, 'wake/b'), due), [{ kind: 'fired', id: 'wake/b' }], 'not armed')
  t.match(await s.fold(timer(due + 1, 'wake/a'), due + 1), [{ kind: 'fired' }], 'another deadline of that name')
  t.equal(await woken(), 0)
  await s.fold(owner(3))
  t.same(await s.fold(timer(due, 'wake/a', 2), due), [], 'of an older epoch')
  t.equal(await woken(), 0)
  t.match(await s.fold(timer(due, 'wake/a', 3), due), [{ kind: 'fired', due, id: 'wake/a' }])
  t.equal(await woken(), 1)
  await s.fold(timer(due, 'wake/a', 3), due)
  t.equal(await woken(), 1, 'sent twice')
})

t.test('a disarmed deadline does not fire', async (t) => {
  const s = await Subject.create()
  await s.fold(event('a', 'timer'), 1000)
  const { due } = (await s.row(counts, 'a'))!
  await s.fold(event('a', 'cancel'), 1500)
  t.match(await s.fold(timer(due, 'wake/a'), due), [{ kind: 'fired' }])
  t.match(await s.row(counts, 'a'), { woken: 0, due: 0 })
})

t.test('a deadline whose fold throws is dead-lettered and disarmed: it would fail for ever', async (t) => {
  for (const change of [{ onDeadline: raise }, { readsOfDeadline: raise }] as readonly Partial<Processor>[]) {
    const s = await Subject.create(change)
    await s.fold(event('a', 'timer'), 1000)
    t.match(await s.fold(timer(2000, 'wake/a'), 2000), [
      { kind: 'failed' },
      { kind: 'deadLetter', problem: { code: 'FOLD_FAILED', message: 'deadline "wake/a": "raised"' } },
      { kind: 'fired', due: 2000, id: 'wake/a' },
    ])
    t.equal(await s.row(engineTables.deadlines, deadlineKey(2000, 'wake/a')), undefined)
  }
})

t.test('only an owner of a higher epoch begins a term', async (t) => {
  const s = await Subject.create()
  t.match(await s.fold(owner(2, 'me', '{"a":1}')), [{ owner: { epoch: 2, instance: 'me' }, isNewest: true }])
  t.match(s.folder.state, { epoch: 2, foldVersion: 7, settings: { a: 1 } })
  await s.fold(owner(2, 'other', '{"a":2}'))
  await s.fold(owner(1, 'other', '{"a":3}'))
  t.match(s.folder.state, { epoch: 2, settings: { a: 1 } })
  await s.fold(owner(3, 'other', '{"a":4}'))
  t.match(s.folder.state, { epoch: 3, settings: { a: 4 } })
})

t.test('the newest change of settings is kept: who answers for it, why, from what to what', async (t) => {
  const s = await Subject.create()
  const change = () => s.folder.state.settingsChange
  await s.fold({ ...owner(1, 'first', '{"a":1,"b":[2]}'), actor: 'alice' }, 100)
  t.same(change(), {
    offset: 0,
    timestamp: 100,
    epoch: 1,
    instance: 'first',
    actor: 'alice',
    reason: null,
    changed: {},
  })
  await s.fold({ ...owner(2, 'same', '{"b":[2],"a":1}'), actor: 'bob' }, 200)
  t.match(change(), { epoch: 1, actor: 'alice' }, 'a term that changes nothing')
  await s.fold({ ...owner(3, 'other', '{"a":5,"c":true}'), actor: 'carol', reason: 'a test' }, 300)
  const changed = { a: { before: 1, after: 5 }, b: { before: [2], after: null }, c: { before: null, after: true } }
  t.match(change(), { offset: 2, timestamp: 300, epoch: 3, actor: 'carol', reason: 'a test' })
  t.same(change()?.changed, changed)
  await s.fold(owner(3, 'late', '{"a":9}'))
  t.match(change(), { instance: 'other' }, 'one that is outdone')
  await s.fold(owner(4, 'unnamed', '{"a":6}'))
  t.match(change(), { actor: null, changed: { a: { before: 5, after: 6 }, c: { before: true, after: null } } })
})

t.test('a term begins with its settings, and begins also where the domain fails at that', async (t) => {
  const terms: unknown[] = []
  const onTerm: Processor['onTerm'] = ({ epoch, settings }) => void terms.push([epoch, settings])
  const s = await Subject.create({ onTerm })
  await s.fold(owner(2, 'me', '{"a":1}'))
  await s.fold(owner(1, 'other', '{"a":2}'))
  t.strictSame(terms, [[2, { a: 1 }]], 'one that is outdone begins none')
  const raise = (): never => {
    throw new Error('of the test')
  }
  const failing = await Subject.create({ onTerm: raise })
  t.match(await failing.fold(owner(2)), [{ kind: 'failed' }, { kind: 'owner', isNewest: true }])
  t.equal(failing.folder.state.epoch, 2)
})

t.test('a new owner forgets processes that have sent nothing over HTTP for a day', async (t) => {
  const s = await Subject.create()
  const from = (source: string): EventEntry => event('a', '', { source: { source, offset: 1, index: 0 } })
  await s.fold([from('http/old'), from('count-me/0@x')], 0)
  await s.fold(from('http/new'), HOUR_MS)
  await s.fold(owner(1), 24 * HOUR_MS + 1)
  t.same([...(s.rows.state(engineTables.sources).resident ?? new Map()).keys()].sort(), [
    'count-me/0@x',
    'http/me',
    'http/new',
  ])
})

t.test('a command repeated gets its first answer, until that is forgotten', async (t) => {
  const s = await Subject.create()
  const answer = { kind: 'answer', commandId: 'c', answer: { key: 'a', count: 1 }, offset: 0 }
  t.match(await s.fold(event('a', '', { commandId: 'c' }), 1000), [{ kind: 'output' }, { kind: 'armed' }, answer])
  t.match(await s.fold(event('a', '', { commandId: 'c' }), 2000), [answer])
  const repeated = event('b', '', { commandId: 'other' })
  await s.fold(repeated)
  t.match(await s.fold(repeated), [{ kind: 'answer', commandId: 'other' }], 'also when sent again by the same process')
  t.equal(await s.count('a'), 1)
  await s.fold(timer(601_000, '$answer/c'), 601_000)
  await s.fold(event('a', '', { commandId: 'c' }), 601_001)
  t.equal(await s.count('a'), 2)
})

t.test('an event that is no command keeps no answer', async (t) => {
  const s = await Subject.create()
  await s.fold(event('a'))
  t.same(s.kinds(), ['output'])
})

t.test('an effect stays owed until its first result; a second one changes nothing', async (t) => {
  const s = await Subject.create()
  const owed = (): unknown[] => [...(s.rows.state(engineTables.owed).resident?.keys() ?? [])]
  t.match(await s.fold(event('a', 'request')), [{ kind: 'output' }, { kind: 'request', effect: { id: '0/0' } }])
  t.same(owed(), ['0/0'])
  t.match(await s.fold(event('a-echo', '', { effectId: '0/0' })), [
    { kind: 'settled', effectId: '0/0' },
    { kind: 'output' },
  ])
  t.same(owed(), [])
  t.same(await s.fold(event('a-echo', '', { effectId: '0/0' })), [])
  t.same(await s.fold(event('a-echo', '', { effectId: 'never asked for' })), [])
  t.equal(await s.count('a-echo'), 1)
})

t.test('outputs and sends are known by their place, whatever was made before them', async (t) => {
  const many = 5000
  const s = await Subject.create({
    evolve(_event, context) {
      const record = { key: 'k', value: 'v', headers: [] }
      for (let i = 0; i < many; i++) context.emit({ topic: 'out' }, record)
      for (let i = 0; i < many; i++) context.send('k', { type: 'Counted', data: { key: 'k', mode: '' } })
    },
  })
  const made = await s.fold([event('a'), event('b')])
  const ids = made.flatMap((c) =>
    c.kind === 'output'
      ? [
          sendableOutput(c, 'j/0')
            .headers?.find(([n]) => n === 'ce_id')?.[1]
            .toString(),
        ]
      : [],
  )
  t.equal(new Set(ids).size, 2 * many)
  const positions = made.flatMap((c) => (c.kind === 'send' ? [c.source] : []))
  t.equal(positions.length, 2 * many)
  t.ok(
    positions.every(({ offset, index }, i) => offset === 0 && index > (positions[i - 1]?.index ?? -1)),
    'in growing order, so that none is dropped as a repeat of another',
  )
  t.ok(positions.every(({ index }) => index < 2 ** 31))
})

function raise(): never {
  throw new Error('raised')
}

t.test('an audit is told of each entry: the rules that fired, the rows before and after, what it made', async (t) => {
  const s = await Subject.create()
  const once = event('a')
  await s.fold([once, event('a', 'timer'), event('b', 'fail'), once], 5000)
  const [first, second, failed, repeated] = s.told
  t.match(first, { outcome: 'folded', position: { offset: 0, index: 0 }, timestamp: 5000 })
  t.strictSame(first?.rules, [{ rule: 'counted', compared: { before: 0, surveyed: 0 } }])
  const row = { count: 1, woken: 0, lastOffset: 0, due: 0 }
  t.strictSame(first?.changes, [
    { table: counts, key: 'a', before: undefined, after: row },
    { table: totals, key: 'all', before: undefined, after: { total: 1 } },
  ])
  t.match(second?.changes[0], { key: 'a', before: row, after: { count: 2, due: 6000 } }, 'put twice: first and last')
  t.match(second?.changes[1], { before: { total: 1 }, after: { total: 2 } })
  t.match(second?.consequences, [{ kind: 'output' }, { kind: 'armed', due: 6000 }])
  t.match(failed, { outcome: 'failed', changes: [], consequences: [{ kind: 'failed' }, { kind: 'deadLetter' }] })
  t.match(repeated, { outcome: 'repeated', rules: [], changes: [] })
})
