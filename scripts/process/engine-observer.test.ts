import t from 'tap'
import { silentLogger } from '../../common/logger.js'
import type { Clock } from '../../common/clock.js'
import { manualClock } from '../../common/manual-clock.js'
import type { Logger } from '../../common/logger.js'
import { createMetrics } from '../../common/metrics.js'
import { engineObserver } from './engine-observer.js'

/** What the calls leave in metrics and log. */
async function observed(
  call: (observer: ReturnType<typeof engineObserver>) => void,
  clock: Pick<Clock, 'monotonic'> = manualClock(),
) {
  const metrics = createMetrics({ processMetrics: false })
  const lines: string[] = []
  const note = (level: string) => (fields: object, message?: string) => {
    lines.push(`${level}: ${message ?? ''} ${JSON.stringify(fields)}`)
  }
  const logger: Logger = Object.assign(silentLogger(), { info: note('info'), warn: note('warn'), error: note('error') })
  call(engineObserver(metrics, logger, clock))
  return { text: await metrics.text(), lines }
}

const cases = [
  {
    name: 'folded entries',
    call: (o: ReturnType<typeof engineObserver>) => {
      o.onFolded('d', 3, 5)
      o.onFolded('d', 3, 2)
    },
    series: ['pulsefold_folded_entries_total{domain="d",partition="3"} 7'],
  },
  {
    name: 'what folds count, and repeats apart',
    call: (o: ReturnType<typeof engineObserver>) => {
      o.onCount('d', 'late', 'heartbeat', 1)
      o.onCount('d', 'repeated', 'event', 1)
    },
    series: [
      'pulsefold_fold_events_total{domain="d",counter="late",label="heartbeat"} 1',
      'pulsefold_repeated_entries_total{domain="d",kind="event"} 1',
    ],
  },
  {
    name: 'commits',
    call: (o: ReturnType<typeof engineObserver>) => o.onCommit('d', 0, 12, 3),
    series: [
      'pulsefold_commits_total{domain="d",partition="0"} 1',
      'pulsefold_commit_rows_total{domain="d",partition="0"} 12',
      'pulsefold_commit_duration_seconds_sum{domain="d"} 0.003',
    ],
  },
  {
    name: 'checks of stores',
    call: (o: ReturnType<typeof engineObserver>) => {
      o.onStoreChecked('d', 0, 20, true)
      o.onStoreChecked('d', 0, 30, false)
    },
    series: [
      'pulsefold_store_checks_total{domain="d",partition="0",result="intact"} 1',
      'pulsefold_store_checks_total{domain="d",partition="0",result="damaged"} 1',
      'pulsefold_store_check_duration_seconds_sum{domain="d"} 0.05',
    ],
  },
  {
    name: 'records in and out',
    call: (o: ReturnType<typeof engineObserver>) => {
      o.onDecoded('in', 'rejected', 'NOT_UTF8', 2)
      o.onDeadLetter('in', 'NOT_UTF8')
      o.onOutput('out', 3)
      o.onChangelog('d', 1, 4)
      o.onDeadlineFired('d')
      o.onEffectPerformed('d', 'check', 20)
    },
    series: [
      'pulsefold_ingested_records_total{topic="in",result="rejected",reason="NOT_UTF8"} 2',
      'pulsefold_dead_letter_records_total{topic="in",code="NOT_UTF8"} 1',
      'pulsefold_output_records_total{topic="out"} 3',
      'pulsefold_changelog_records_total{domain="d",partition="1"} 4',
      'pulsefold_deadlines_fired_total{domain="d"} 1',
      'pulsefold_effect_duration_seconds_count{domain="d",kind="check"} 1',
    ],
  },
]
for (const { name, call, series } of cases) {
  t.test(`counts ${name}, without a line in the log`, async (t) => {
    const { text, lines } = await observed(call)
    for (const line of series) t.ok(text.split('\n').includes(line), line)
    t.same(lines, [])
  })
}

t.test('a task is in one state, and each move is one line', async (t) => {
  const { text, lines } = await observed((o) => {
    o.onTaskState('d', 1, 'RUNNING', 'restored')
    o.onTaskState('d', 1, 'FAILED', 'disk')
  })
  t.match(text, 'pulsefold_task_state{domain="d",partition="1",state="RUNNING"} 0')
  t.match(text, 'pulsefold_task_state{domain="d",partition="1",state="FAILED"} 1')
  t.same(lines, [
    'info: task state {"domain":"d","partition":1,"state":"RUNNING","reason":"restored"}',
    'error: task state {"domain":"d","partition":1,"state":"FAILED","reason":"disk"}',
  ])
})

t.test('troubles are counted and logged', async (t) => {
  const { text, lines } = await observed((o) => {
    o.onGap({ topic: 'in', partition: 2, from: 10, to: 25 })
    o.onSetAside('d', 1, 'damaged', '/data/x')
    o.onInputTopic('in', 0)
    o.onSourceStopped({ topic: 'in', partition: 2 }, 'made anew')
    o.onError('consumer', new Error('lost'))
  })
  t.match(text, 'pulsefold_gap_records_total{topic="in",partition="2"} 15')
  t.match(text, 'pulsefold_stores_set_aside_total{domain="d",partition="1"} 1')
  t.match(text, 'pulsefold_input_stopped{topic="in",partition="2"} 1')
  t.match(text, 'pulsefold_failures_total{where="consumer"} 1')
  t.same(
    lines.map((line) => line.split(' {')[0]),
    [
      'error: records were deleted before they were read',
      'warn: local store set aside, to be rebuilt',
      'error: input topic is missing; it is read as soon as it is there',
      'error: input is not read until it is restarted (pulsefold sources)',
      'error: failed',
    ],
  )
})

t.test('what goes on failing in one place is counted each time, and told every ten seconds', async (t) => {
  const seconds = { monotonic: () => now }
  let now = 0
  const { text, lines } = await observed(
    (o) => {
      const fail = (partition: number) => o.onError(`append to journal/${partition}`, new Error('refused'))
      for (; now < 20_000; now += 200) fail(1)
      fail(2)
      fail(1)
    },
    { ...manualClock(), ...seconds },
  )
  t.match(text, 'pulsefold_failures_total{where="append to journal/1"} 101')
  t.same(
    lines.map((line) => /"where":"([^"]*)".*?(?:"leftOut":(\d+))?}$/.exec(line)?.slice(1)),
    [
      ['append to journal/1', undefined],
      ['append to journal/1', '49'],
      ['append to journal/2', undefined],
      ['append to journal/1', '49'],
    ],
  )
})

t.test('a restore, and another one after it', async (t) => {
  const { text } = await observed((observer) => {
    for (const [restoredRecords, endOffset] of [
      [10, 30],
      [30, 30],
      [4, 30],
    ] as const) {
      observer.onRestore('d', 0, { restoredRecords, startOffset: 0, offset: restoredRecords, endOffset })
    }
  })
  t.match(text, 'pulsefold_restored_records_total{domain="d",partition="0"} 34\n')
  t.match(text, 'pulsefold_restore_lag_records{domain="d",partition="0"} 26\n')
})

t.test('RS-17 a restore tells how far it is: at its begin, every 10 s, and at its end', async (t) => {
  let now = 0
  const { lines } = await observed(
    (observer) => {
      for (let offset = 100; offset <= 1000; offset += 100) {
        observer.onRestore('d', 0, { restoredRecords: offset, startOffset: 0, offset, endOffset: 1000 })
        now += 2000
      }
    },
    { monotonic: () => now },
  )
  const told = lines.map((line) => /"percent":(\d+)/.exec(line)?.[1])
  t.same(told, ['10', '60', '100'])
  t.match(lines[0], /^info: restoring from the changelog/)
})
