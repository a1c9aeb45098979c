import t from 'tap'
import { latencies } from './latencies.js'
import { progressLines } from './progress.js'
import { comparedSearch, isAsExpected, reportLines, type Report } from './report.js'

const report: Report = {
  url: 'http://127.0.0.1:8080',
  seed: 1,
  devices: 3,
  plugins: 2,
  durationMs: 120_400,
  heartbeats: { NONE: 1, COMPLETE: 5 },
  retries: 0,
  outages: [
    { plugin: 'http://127.0.0.1:9001', kind: 'never answers', seenDownMs: 12_300, seenUpMs: 20_000 },
    { plugin: 'http://127.0.0.1:9002', kind: 'says DOWN', seenDownMs: null, seenUpMs: null },
  ],
  searches: [comparedSearch('NONE', ['a'], ['a']), comparedSearch('COMPLETE', ['b', 'c'], ['c', 'b'])],
  reads: { asked: 3, different: [] },
  latencies: { search: { count: 2, p50Ms: 1.25, p99Ms: 3 } },
}

t.test('a run is as expected when searches find just what they should, once each, and reads agree', async (t) => {
  const changed = (changes: Partial<Report>) => isAsExpected({ ...report, ...changes })
  t.equal(isAsExpected(report), true)
  t.equal(changed({ searches: [comparedSearch('NONE', ['a'], [])] }), false, 'one is missing')
  t.equal(changed({ searches: [comparedSearch('NONE', ['a'], ['a', 'b'])] }), false, 'one too many')
  t.equal(changed({ searches: [comparedSearch('NONE', ['a'], ['a', 'a'])] }), false, 'one twice')
  const different = [{ cmHandle: 'a', expected: 'NONE', actual: 'COMPLETE' }] as const
  t.equal(changed({ reads: { asked: 3, different } }), false, 'one reads another level')
})

t.test('the report says what was sent, answered and expected', async (t) => {
  t.same(reportLines(report), [
    'Simulated against http://127.0.0.1:8080 with seed 1 for 120.4 s',
    '  sent      3 devices of 2 plugins registered; heartbeats 5 COMPLETE and 1 NONE; 0 requests repeated',
    '  outage    http://127.0.0.1:9001 never answers: seen down after 12.3 s, seen up after 20.0 s',
    '  outage    http://127.0.0.1:9002 says DOWN: not seen in time',
    '  search    NONE: 1 found of 1 expected; 0 missing, 0 unexpected',
    '  search    COMPLETE: 2 found of 2 expected; 0 missing, 0 unexpected',
    '  reads     3 asked, 0 different',
    '  latency   search: p50 1.3 ms, p99 3.0 ms of 2',
    'All answers are as expected.',
  ])
  const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  const lines = reportLines({
    ...report,
    searches: [comparedSearch('NONE', ids, ['x'])],
    reads: { asked: 1, different: [{ cmHandle: 'a', expected: 'NONE', actual: 'COMPLETE' }] },
  })
  t.ok(lines.includes('  search    NONE: 1 found of 7 expected; 7 missing: a, b, c, d, e and 2 more, 1 unexpected: x'))
  t.ok(lines.includes('  reads     1 asked, 1 different: a is COMPLETE instead of NONE'))
  t.equal(lines.at(-1), 'Answers DIFFER from what was expected.')
})

t.test('percentiles are values of the sample', async (t) => {
  const sample = latencies()
  t.same(sample.summary(), { count: 0, p50Ms: 0, p99Ms: 0 })
  for (let ms = 100; ms > 0; ms--) sample.add(ms)
  t.same(sample.summary(), { count: 100, p50Ms: 50, p99Ms: 99 })
})

t.test('without a terminal, progress is a line for each step and each tenth', async (t) => {
  const lines: string[] = []
  const progress = progressLines((line) => lines.push(line), 200, 'heartbeats')
  progress.step('sending')
  for (let done = 0; done <= 200; done += 5) progress.update(done)
  progress.stop()
  t.equal(lines.length, 11)
  t.same([lines[0], lines[1], lines[10]], ['sending', '20 of 200 heartbeats', '200 of 200 heartbeats'])
})
