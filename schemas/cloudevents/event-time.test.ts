import t from 'tap'
import { eventTimeOf, parseRfc3339 } from './event-time.js'

t.test('RFC 3339 times are read strictly, to the millisecond', async (t) => {
  const table: readonly (readonly [text: string, iso: string | null])[] = [
    ['2026-03-01T10:00:00Z', '2026-03-01T10:00:00.000Z'],
    ['2026-03-01t10:00:00z', '2026-03-01T10:00:00.000Z'],
    ['2026-03-01T10:00:00.1Z', '2026-03-01T10:00:00.100Z'],
    ['2026-03-01T10:00:00.123456789Z', '2026-03-01T10:00:00.123Z'],
    ['2026-03-01T10:00:00.999999+05:30', '2026-03-01T04:30:00.999Z'],
    ['2026-03-01T23:30:00-02:00', '2026-03-02T01:30:00.000Z'],
    ['2026-03-01T10:00:00-00:00', '2026-03-01T10:00:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['0099-01-01T00:00:00Z', '0099-01-01T00:00:00.000Z'],
    ['2016-12-31T23:59:60Z', '2016-12-31T23:59:59.999Z'],
    ['2017-01-01T00:59:60.5+01:00', '2016-12-31T23:59:59.999Z'],
    ['2016-12-31T23:58:60Z', null],
    ['2016-12-31T23:59:61Z', null],
    ['2016-12-31T23:59:60+01:00', null],
    ['2026-02-29T00:00:00Z', null],
    ['2026-02-00T00:00:00Z', null],
    ['2026-00-01T00:00:00Z', null],
    ['2026-13-01T00:00:00Z', null],
    ['2026-04-31T00:00:00Z', null],
    ['2026-03-01T24:00:00Z', null],
    ['2026-03-01T10:60:00Z', null],
    ['2026-03-01T10:00:00+24:00', null],
    ['2026-03-01T10:00:00+01:60', null],
    ['2026-03-01T10:00:00+0100', null],
    ['2026-03-01T10:00:00', null],
    ['2026-03-01 10:00:00Z', null],
    ['2026-03-01', null],
    ['2026-03-01T10:00Z', null],
    ['2026-03-01T10:00:00.Z', null],
    ['2026-03-01T10:00:00,5Z', null],
    ['+002026-03-01T10:00:00Z', null],
    [' 2026-03-01T10:00:00Z', null],
    ['2026-03-01T10:00:00Z\n', null],
    ['٢٠٢٦-03-01T10:00:00Z', null],
    [`2026-03-01T10:00:00.${'1'.repeat(100)}Z`, null],
    ['1710064800', null],
    ['', null],
  ]
  for (const [text, iso] of table) t.equal(parseRfc3339(text), iso === null ? null : Date.parse(iso), text)
})

t.test('the event time is its own, else the record timestamp, else to be taken at arrival', async (t) => {
  const stamp = Date.UTC(2026, 0, 1)
  const year2000 = Date.UTC(2000, 0, 1)
  const table: readonly (readonly [
    time: string | null,
    timestamp: number | null,
    expected: readonly [number | null, string],
  ])[] = [
    ['2026-03-01T00:00:00Z', stamp, [Date.UTC(2026, 2, 1), 'CE_TIME']],
    ['2036-03-01T00:00:00Z', stamp, [Date.UTC(2036, 2, 1), 'CE_TIME']],
    [null, stamp, [stamp, 'RECORD']],
    [null, null, [null, 'ABSENT']],
    ['yesterday', stamp, [null, 'MALFORMED']],
    ['', stamp, [null, 'MALFORMED']],
    ['1999-12-31T23:59:59.999Z', stamp, [null, 'MALFORMED']],
    ['2000-01-01T00:00:00Z', stamp, [year2000, 'CE_TIME']],
    ['9999-12-31T23:59:59-01:00', stamp, [null, 'MALFORMED']],
    [null, -1, [null, 'MALFORMED']],
    [null, 0, [null, 'MALFORMED']],
    [null, year2000 - 1, [null, 'MALFORMED']],
    [null, year2000, [year2000, 'RECORD']],
    [null, NaN, [null, 'MALFORMED']],
    [null, Infinity, [null, 'MALFORMED']],
    [null, stamp + 0.5, [null, 'MALFORMED']],
  ]
  for (const [time, timestamp, [eventTime, eventTimeSource]] of table) {
    t.same(eventTimeOf(time, timestamp), { eventTime, eventTimeSource }, `${time ?? '-'} ${timestamp ?? '-'}`)
  }
})
