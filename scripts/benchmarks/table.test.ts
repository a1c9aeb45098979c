import t from 'tap'
import { percentile, verdictOf } from './figure.js'
import { tableOf } from './table.js'

t.test('a verdict says whether a figure is what it must be, and nothing where nothing is demanded', async (t) => {
  const cases = [
    [{ value: 20, atMost: 20 }, 'met'],
    [{ value: 20.1, atMost: 20 }, 'missed'],
    [{ value: 300, atLeast: 300 }, 'met'],
    [{ value: 299, atLeast: 300 }, 'missed'],
    [{ value: NaN, atMost: 20 }, 'missed'],
    [{ value: 1 }, ''],
  ] as const
  for (const [figure, verdict] of cases) t.equal(verdictOf({ what: 'x', unit: 'ms', ...figure }), verdict)
})

t.test('a percentile is a value of the sample', async (t) => {
  const sample = [5, 1, 4, 2, 3]
  t.equal(percentile(sample, 0.5), 3)
  t.equal(percentile(sample, 0.99), 5)
  t.ok(Number.isNaN(percentile([], 0.5)))
})

t.test('a row that could not be measured is in the table, with the reason', async (t) => {
  const table = tableOf([
    { row: 'raw', figures: [{ what: 'append', value: 1234.5, unit: '/s', compared: 'durable' }], failure: null },
    { row: 'burst', figures: [{ what: 'folded', value: 12.34, unit: 'ms', atMost: 1000 }], failure: null },
    { row: 'reads', figures: [], failure: 'interrupted' },
  ])
  t.equal(
    table,
    [
      'row    what                         figure  must be, compared with  verdict',
      '-----  -------------------------  --------  ----------------------  -------',
      'raw    append                     1,235 /s  durable',
      'burst  folded                      12.3 ms  <= 1,000 ms             met',
      'reads  not measured: interrupted                                    failed',
    ].join('\n'),
  )
})
