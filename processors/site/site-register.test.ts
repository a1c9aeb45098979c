import t from 'tap'
import { FoldKit } from '../fold-kit.js'
import type { SiteEvent } from './events.js'
import { isNewer } from './site-record.js'
import type { SiteName, SiteRecord } from './site-record.js'
import { isLegal, moves, reportedMoves } from './moves.js'
import type { Move, ReportedMove } from './moves.js'
import { roleOf } from './roles.js'
import { initialRecord, registerQuery, SITE_KEY, siteRegister } from './index.js'
import type { SiteAnswer, SiteInstance } from './index.js'
import { phases, siteNames } from './site-record.js'

class RegisterKit extends FoldKit<SiteEvent, unknown> {
  constructor() {
    super(siteRegister('test-site'), { partitions: 1 })
  }
  ask(
    target: SiteName,
    more: { kind?: 'manual' | 'automatic'; oldAlive?: boolean; windowMs?: number } = {},
  ): SiteAnswer {
    const data = { target, kind: 'manual' as const, oldAlive: true, windowMs: 10_800_000, ...more }
    return this.when(SITE_KEY, { type: 'SwitchRequested', data }) as SiteAnswer
  }
  move(move: ReportedMove, epoch: number, error = '', report = ''): SiteAnswer {
    return this.when(SITE_KEY, {
      type: 'SwitchMoved',
      data: { epoch, term: this.epoch, move, error, report },
    }) as SiteAnswer
  }
  receive(record: SiteRecord): SiteAnswer {
    return this.when(SITE_KEY, { type: 'RecordReceived', data: record }) as SiteAnswer
  }
  async record(): Promise<SiteRecord> {
    return (await this.query(registerQuery, SITE_KEY, {})).record
  }
  async instances(): Promise<readonly SiteInstance[]> {
    return (await this.query(registerQuery, SITE_KEY, {})).instances
  }
  begin(instance: string, { epoch, step }: SiteRecord): SiteAnswer {
    return this.when(SITE_KEY, { type: 'ConsumingBegun', data: { instance, epoch, step } }) as SiteAnswer
  }
  report(instance: string, consumes: boolean, troubles = ''): void {
    this.when(SITE_KEY, { type: 'InstanceReported', data: { instance, consumes, troubles } })
  }
}

t.test('a failover goes through its phases, and a failback through the same', async (t) => {
  const kit = new RegisterKit()
  t.same(await kit.record(), initialRecord)
  for (const [target, old, epoch] of [
    ['secondary', 'primary', 2],
    ['primary', 'secondary', 3],
  ] as const) {
    t.match(kit.ask(target), {
      outcome: 'started',
      record: { epoch, phase: 'PRELOAD', active: old, target, attempt: 1 },
    })
    t.match(await kit.record(), { switchedAt: kit.time, windowFrom: kit.time - 10_800_000 })
    t.match(kit.move('loaded', epoch), { outcome: 'moved', record: { phase: 'SWITCH', active: target } })
    t.match(kit.move('fenced', epoch), { outcome: 'moved', record: { phase: 'CATCHUP' } })
    t.match(kit.move('caughtUp', epoch, '', 'R'), {
      record: { phase: 'STEADY', active: target, target: null, report: 'R', epoch },
    })
  }
  t.equal(kit.outputs.length, 8, 'each change goes to the control topic')
  const replayed = kit.replayed()
  t.equal(replayed.digest(), kit.digest(), 'a replay of the register gives the same record')
  t.same(
    replayed.outputs.map(({ value }) => value),
    kit.outputs.map(({ value }) => value),
    'and the same phases',
  )
})

t.test('FO-01 a switch asked for again is the same switch, in each phase', (t) => {
  const kit = new RegisterKit()
  t.equal(kit.ask('primary').outcome, 'done')
  kit.ask('secondary')
  for (const move of ['loaded', 'fenced'] as const) {
    t.match(kit.ask('secondary'), { outcome: 'running', record: { epoch: 2 } })
    kit.move(move, 2)
    t.match(kit.ask('secondary'), { outcome: 'running', record: { epoch: 2 } })
  }
  kit.move('caughtUp', 2)
  t.match(kit.ask('secondary'), { outcome: 'done', record: { epoch: 2 } })
  t.end()
})

t.test('FO-07 the opposite request is refused in each phase of a switch, and changes nothing', async (t) => {
  const kit = new RegisterKit()
  kit.ask('secondary')
  for (const move of ['loaded', 'fenced', undefined] as const) {
    const before = await kit.record()
    t.same(kit.ask('primary'), { outcome: 'opposite', record: before })
    if (move !== undefined) kit.move(move, 2)
  }
})

t.test('a move of another epoch or from another phase changes nothing', async (t) => {
  for (const phase of phases) {
    const kit = new RegisterKit()
    const switching = { ...initialRecord, epoch: 7, phase, target: 'secondary' as const }
    kit.receive(switching)
    const before = await kit.record()
    for (const move of reportedMoves) t.same(kit.move(move, 6), { outcome: 'stale', record: before }, `${move} of 6`)
    for (const move of reportedMoves.filter((candidate) => !isLegal(candidate, switching))) {
      t.same(kit.move(move, 7), { outcome: 'stale', record: before }, `${move} in ${phase}`)
    }
  }
})

t.test('retries count, and a failed switch is begun anew by the next request', (t) => {
  const kit = new RegisterKit()
  kit.ask('secondary')
  t.match(kit.move('retried', 2, 'history is down'), {
    record: { phase: 'PRELOAD', attempt: 2, error: 'history is down' },
  })
  t.match(kit.move('failed', 2, 'too slow'), { record: { phase: 'FAILED', active: 'primary', error: 'too slow' } })
  t.equal(kit.ask('primary').outcome, 'done')
  t.match(kit.ask('secondary'), { outcome: 'started', record: { epoch: 3, attempt: 1, error: '' } })
  t.match(kit.move('aborted', 3), { record: { epoch: 4, phase: 'STEADY', active: 'primary', target: null } })
  t.match(kit.move('loaded', 3), { outcome: 'stale' })
  t.end()
})

t.test('a manual switch goes on as an automatic one when the old site dies', (t) => {
  const kit = new RegisterKit()
  kit.ask('secondary')
  const dead = { kind: 'automatic', oldAlive: false, windowMs: 3_600_000 } as const
  t.match(kit.ask('secondary', dead), {
    outcome: 'running',
    record: { epoch: 2, kind: 'automatic', oldAlive: false, windowFrom: kit.time - 10_800_000 },
  })
  kit.move('loaded', 2)
  t.match(kit.ask('secondary', dead), { outcome: 'running', record: { phase: 'SWITCH' } })
  t.end()
})

t.test('a target that fails when nobody else works is replaced by the other site, under a new epoch', (t) => {
  const dead = { kind: 'automatic', oldAlive: false } as const
  for (const until of ['loaded', 'fenced'] as const) {
    const kit = new RegisterKit()
    kit.ask('secondary')
    t.match(kit.ask('primary', dead), { outcome: 'opposite' }, 'in PRELOAD the old site works on')
    kit.move('loaded', 2)
    if (until === 'fenced') kit.move('fenced', 2)
    t.match(kit.ask('primary', dead), {
      outcome: 'started',
      record: { epoch: 3, phase: 'PRELOAD', active: 'secondary', target: 'primary', oldAlive: false },
    })
    t.match(kit.move('loaded', 2), { outcome: 'stale' }, 'the replaced one has no more say')
  }
  const kit = new RegisterKit()
  kit.ask('secondary', dead)
  t.match(kit.ask('primary'), { outcome: 'opposite' })
  t.match(kit.ask('primary', dead), { outcome: 'started', record: { epoch: 3, target: 'primary' } })
  kit.move('failed', 3, 'the disk is full')
  t.match(kit.ask('secondary', dead), { outcome: 'started', record: { epoch: 4, target: 'secondary' } })
  t.end()
})

t.test('of two records the higher epoch is right, of one epoch the further, of two leaders the primary', (t) => {
  const record = (more: Partial<SiteRecord>): SiteRecord => ({ ...initialRecord, epoch: 5, ...more })
  const rows: [a: SiteRecord, b: SiteRecord][] = [
    [record({ epoch: 6 }), record({ epoch: 5, step: 9 })],
    [record({ step: 2 }), record({ step: 1 })],
    [record({ active: 'primary' }), record({ active: 'secondary', step: 3 })],
    [record({ target: 'primary', active: 'secondary' }), record({ target: 'secondary', active: 'primary', step: 1 })],
  ]
  for (const [a, b] of rows) {
    t.ok(isNewer(a, b))
    t.notOk(isNewer(b, a))
    const kit = new RegisterKit()
    kit.receive(b)
    t.match(kit.receive(a), { outcome: 'taken', record: a })
    t.match(kit.receive(b), { outcome: 'stale', record: a })
  }
  t.end()
})

t.test('in a switch one site at least takes traffic, and never do two consume', (t) => {
  const path: readonly Partial<SiteRecord>[] = [
    { phase: 'STEADY', active: 'primary' },
    { phase: 'PRELOAD', active: 'primary', target: 'secondary' },
    { phase: 'FAILED', active: 'primary', target: 'secondary' },
    { phase: 'PRELOAD', active: 'primary', target: 'secondary', oldAlive: false },
    { phase: 'FAILED', active: 'primary', target: 'secondary', oldAlive: false },
    { phase: 'SWITCH', active: 'secondary', target: 'secondary' },
    { phase: 'CATCHUP', active: 'secondary', target: 'secondary' },
    { phase: 'STEADY', active: 'secondary', target: null },
  ]
  const roles = path.map((changes) => siteNames.map((site) => roleOf(site, { ...initialRecord, ...changes })))
  for (const [index, both] of roles.entries()) {
    t.equal(both.filter(({ takesTraffic }) => takesTraffic).length, 1, JSON.stringify(path[index]))
    t.ok(both.filter(({ consumes }) => consumes).length <= 1)
    t.ok(both.filter(({ takesEvents }) => takesEvents).length <= 1)
    t.ok(both.every(({ consumes, takesEvents }) => !consumes || takesEvents))
  }
  t.end()
})

t.test('SWITCH and CATCHUP are left backwards only when the target has failed', (t) => {
  const back = (phase: SiteRecord['phase']): Move[] =>
    (Object.keys(moves) as Move[]).filter(
      (move) => isLegal(move, { ...initialRecord, phase }) && ['STEADY', 'FAILED', 'PRELOAD'].includes(moves[move].to),
    )
  t.same(back('SWITCH'), ['takenBack'])
  t.same(back('CATCHUP'), ['takenBack', 'caughtUp'])
  t.end()
})

t.test(
  'a move is taken of the owner of the register alone: one that was paused while another took over says nothing',
  (t) => {
    const kit = new RegisterKit()
    kit.ask('secondary')
    kit.epoch++
    const late = { epoch: 2, term: kit.epoch - 1, move: 'loaded' as const, error: '', report: '' }
    t.match(kit.when(SITE_KEY, { type: 'SwitchMoved', data: late }), { outcome: 'stale', record: { phase: 'PRELOAD' } })
    t.match(kit.move('loaded', 2), { outcome: 'moved', record: { phase: 'SWITCH' } })
    t.end()
  },
)

t.test(
  'an instance is noted before it consumes, by the newest record alone, and until it says that it has stopped',
  async (t) => {
    const kit = new RegisterKit()
    const first = await kit.record()
    t.match(kit.begin('a', first), { outcome: 'taken' })
    t.match(kit.begin('b', first), { outcome: 'taken' })
    kit.ask('secondary')
    t.match(kit.begin('c', first), { outcome: 'stale' }, 'it has not heard of the switch')
    kit.report('b', true, 'the disk')
    t.same(await kit.instances(), [
      { instance: 'a', consumes: true, troubles: '' },
      { instance: 'b', consumes: true, troubles: 'the disk' },
    ])
    kit.report('a', false)
    kit.report('b', false, 'the disk')
    t.same(await kit.instances(), [{ instance: 'b', consumes: false, troubles: 'the disk' }])
    kit.report('b', true)
    t.same(await kit.instances(), [], 'a word of its own does not begin it')
  },
)
