import fc from 'fast-check'
import t from 'tap'
import { PulsefoldError, assertNever, cut, ensureError } from './errors.js'
import type { ErrorContext, ErrorTable } from './errors.js'

const table = {
  ENGINE_LATE: { action: 'Wait.', retryable: true },
  ENGINE_LOST: { action: 'Look for it.' },
} as const satisfies ErrorTable

class EngineError extends PulsefoldError<keyof typeof table> {
  constructor(code: keyof typeof table, message: string, context?: ErrorContext) {
    super(table, code, message, context)
  }
}

t.test('an error says what happened, what to do, and whether a repeat may help', async (t) => {
  const cause = new Error('below')
  const late = new EngineError('ENGINE_LATE', 'record 7 is late', { details: { offset: 7 }, cause })
  t.match(late, { name: 'EngineError', code: 'ENGINE_LATE', action: 'Wait.', retryable: true, details: { offset: 7 } })
  t.equal(late.message, 'record 7 is late')
  t.equal(late.cause, cause)
  t.ok(late instanceof Error)

  const lost = new EngineError('ENGINE_LOST', 'record 7 is lost')
  t.match(lost, { code: 'ENGINE_LOST', retryable: false, details: {} })
  t.notOk('cause' in lost, 'no cause is not a cause of undefined')
})

t.test('cut', async (t) => {
  const circular: Record<string, unknown> = {}
  circular.self = circular
  const cases: [name: string, value: unknown, limit: number | undefined, expected: string][] = [
    ['a text is quoted', 'handle-1', undefined, '"handle-1"'],
    [
      'line breaks and control characters are escaped',
      'a\r\nb\u0000\u001b[31m\t',
      undefined,
      '"a\\r\\nb\\u0000\\u001b[31m\\t"',
    ],
    ['so are those of Unicode', 'a\u007f\u0085\u2028\u2029b', undefined, '"a\\u007f\\u0085\\u2028\\u2029b"'],
    [
      'so are marks of direction',
      '\u200e\u200f\u061c\u202e\u2066\u2069',
      undefined,
      '"\\u200e\\u200f\\u061c\\u202e\\u2066\\u2069"',
    ],
    ['a quote cannot end the value', '" ok', undefined, '"\\" ok"'],
    ['other letters stay', 'Ωmega 😀', undefined, '"Ωmega 😀"'],
    ['as long as the limit', 'abc', 5, '"abc"'],
    ['longer than the limit', 'abcd', 5, '"abcd…'],
    ['much longer', 'x'.repeat(1_000_000), 10, '"xxxxxxxxx…'],
    ['not within a character', '123😀', 5, '"123…'],
    ['undefined', undefined, undefined, 'null'],
    ['null', null, undefined, 'null'],
    ['a number', 17, undefined, '17'],
    ['a bigint', 2n ** 63n, undefined, '"9223372036854775808"'],
    ['bigints inside', { offsets: [1n] }, undefined, '{"offsets":["1"]}'],
    ['a lone surrogate', '\ud800', undefined, '"\\ud800"'],
    ['a function', () => 1, undefined, '"[function]"'],
    ['a symbol', Symbol('s'), undefined, '"[symbol]"'],
    ['what refers to itself', circular, undefined, '"[object]"'],
  ]
  for (const [name, value, limit, expected] of cases) t.equal(cut(value, limit), expected, name)
})

t.test('cut never throws, never exceeds its limit, and shows nothing that moves the cursor', async (t) => {
  fc.assert(
    fc.property(fc.anything({ withBigInt: true, withNullPrototype: true }), fc.nat({ max: 60 }), (value, limit) => {
      const text = cut(value, limit)
      return text.length <= limit + 1 && !/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(text)
    }),
  )
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (value) => {
      const text = cut(value, 20)
      return Buffer.from(text).toString() === text
    }),
  )
  t.pass()
})

t.test('ensureError keeps errors and wraps all else', async (t) => {
  const error = new TypeError('as it is')
  t.equal(ensureError(error), error)
  for (const [thrown, message] of [
    ['text', '"text"'],
    [undefined, 'null'],
    [{ code: 7 }, '{"code":7}'],
  ] as const) {
    t.match(ensureError(thrown), { name: 'Error', message })
  }
})

t.test('assertNever names what came', async (t) => {
  t.throws(() => assertNever('SOMETHING_NEW' as never), {
    name: 'TypeError',
    message: 'unexpected value "SOMETHING_NEW"',
  })
})
