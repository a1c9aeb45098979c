import t from 'tap'
import { countTap } from './tap-tally.js'

const cases = [
  {
    name: 'counts the innermost assertions, not the subtests around them',
    tap: ['# Subtest: a', '    ok 1 - x', '    ok 2 - y', '    1..2', 'ok 1 - a', '1..1'],
    expected: { passed: 2, failed: 0, skipped: 0 },
  },
  {
    name: 'counts a failure once however deep it lies',
    tap: [
      '# Subtest: a',
      '    # Subtest: b',
      '        not ok 1 - x',
      '        1..1',
      '    not ok 1 - b',
      '    1..1',
      'not ok 1 - a',
      '1..1',
    ],
    expected: { passed: 0, failed: 1, skipped: 0 },
  },
  {
    name: 'does not count what was skipped or is still to do as passed',
    tap: ['ok 1 - x # SKIP set THE_SWITCH', 'not ok 2 - y # TODO later', 'ok 3 - z', '1..3'],
    expected: { passed: 1, failed: 0, skipped: 2 },
  },
  {
    name: 'a plan that is not met is a failure',
    tap: ['ok 1 - x', '1..3'],
    expected: { passed: 1, failed: 1, skipped: 0 },
  },
  { name: 'a missing plan is a failure', tap: ['ok 1 - x'], expected: { passed: 1, failed: 1, skipped: 0 } },
  {
    name: 'a bail-out is a failure',
    tap: ['ok 1 - x', 'Bail out! no disk'],
    expected: { passed: 1, failed: 1, skipped: 0 },
  },
  { name: 'counts nothing where nothing is said', tap: [], expected: { passed: 0, failed: 0, skipped: 0 } },
]

for (const { name, tap, expected } of cases) {
  t.test(name, async (t) => {
    const counter = countTap()
    for (const line of ['TAP version 14', ...tap]) counter.write(`${line}\n`)
    const tally = counter.end()
    t.same({ passed: tally.passed, failed: tally.failed, skipped: tally.skipped.length }, expected)
  })
}

t.test('keeps names, reasons and diagnostics', async (t) => {
  const counter = countTap()
  for (const line of ['not ok 1 - x', '  ---', '  diff: is not', '  ...', 'ok 2 - y # SKIP set THE_SWITCH', '1..2']) {
    counter.write(`${line}\n`)
  }
  const tally = counter.end()
  t.same(tally.failures, [{ name: 'x', diagnostics: { diff: 'is not' } }])
  t.same(tally.skipped, [{ name: 'y', reason: 'set THE_SWITCH' }])
})
