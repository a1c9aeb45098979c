import fc from 'fast-check'
import t from 'tap'
import { inputErrors } from './input-errors.js'
import { MAX_JSON_NESTING, parseJson } from './json.js'
import { elementTexts, memberText, nestsDeeperThan, quoteNumbers } from './json-text.js'

function outcome(json: string | Buffer): unknown {
  const parsed = parseJson(Buffer.from(json))
  return parsed.ok ? parsed.value : [parsed.faults[0].code, parsed.faults[0].field].filter((part) => part !== undefined)
}

t.test('JSON from strangers is parsed or refused with a code', async (t) => {
  const table: readonly (readonly [json: string | Buffer, outcome: unknown])[] = [
    ['{"a":[1,{"b":null}]}', { a: [1, { b: null }] }],
    ['\ufeff{"a":1}', { a: 1 }],
    ['', ['MALFORMED_JSON']],
    ['{"a":1} x', ['MALFORMED_JSON']],
    ["{'a':1}", ['MALFORMED_JSON']],
    ['NaN', ['MALFORMED_JSON']],
    ['"a\nb"', ['MALFORMED_JSON']],
    [Buffer.from([0x22, 0xc0, 0xa0, 0x22]), ['MALFORMED_TEXT']],
    ['"\ufffd"', '\ufffd'],
  ]
  for (const [json, expected] of table) t.strictSame(outcome(json), expected, json.toString())
})

t.test(
  'SE-02 members that could reach a prototype are refused with their path, and values of that name are not',
  async (t) => {
    t.same(outcome('{"__proto__":{"x":1}}'), ['FORBIDDEN_MEMBER', '__proto__'])
    t.same(outcome('{"a":[{},{"__proto__":1}]}'), ['FORBIDDEN_MEMBER', 'a[1].__proto__'])
    t.same(outcome('{"\\u005f_proto_\\u005F":1}'), ['FORBIDDEN_MEMBER', '__proto__'])
    t.same(outcome('{"constructor":{"prototype":{"x":1}}}'), ['FORBIDDEN_MEMBER', 'constructor.prototype'])
    t.same(outcome('{"c":{"\\u0063onstructor":{"prototype":1}}}'), ['FORBIDDEN_MEMBER', 'c.constructor.prototype'])
    t.strictSame(outcome('{"constructor":"x","id":"__proto__"}'), { constructor: 'x', id: '__proto__' })
    t.equal(Object.getPrototypeOf({}), Object.prototype)
    t.notOk('x' in {})
  },
)

t.test('SE-09 nesting is refused beyond 64, whatever else the text is', async (t) => {
  const nested = (depth: number): string => '[{"a":'.repeat(depth / 2) + '1' + '}]'.repeat(depth / 2)
  t.equal(MAX_JSON_NESTING, 64)
  t.notSame(outcome(nested(64)), ['NESTED_TOO_DEEPLY'])
  t.same(outcome(nested(66)), ['NESTED_TOO_DEEPLY'])
  t.same(outcome('['.repeat(50_000)), ['NESTED_TOO_DEEPLY'])
  t.same(outcome('{"a":'.repeat(50_000)), ['NESTED_TOO_DEEPLY'])
  t.equal(outcome(JSON.stringify('["'.repeat(1000))), '["'.repeat(1000), 'brackets in a text do not nest')
  t.ok(Array.isArray(outcome(`[${'[],'.repeat(100_000)}1]`)), 'side by side is not deep')
})

t.test('IV-12 a whole number beyond 2^53 is read digit for digit', async (t) => {
  const json = Buffer.from(' { "data" : {"callId": 9007199254740993 , "a\\"b": [1, 2]}, "x":"}" } ')
  t.equal(memberText(json, ['data', 'callId'])?.toString(), '9007199254740993')
  t.equal(memberText(json, ['data'])?.toString(), '{"callId": 9007199254740993 , "a\\"b": [1, 2]}')
  t.equal(memberText(json, ['data', 'a"b'])?.toString(), '[1, 2]')
  t.equal(memberText(json, ['x'])?.toString(), '"}"')
  t.equal(memberText(json, ['data', 'callId', 'deeper']), undefined)
  t.equal(memberText(json, ['none']), undefined)
  t.equal(memberText(Buffer.from('{"a":1,"a":2}'), ['a'])?.toString(), '2', 'the last of several counts')
  t.equal(memberText(Buffer.from('\ufeff{"a":1}'), ['a'])?.toString(), '1')
})

t.test('an array is cut into the bytes of its elements', async (t) => {
  const cutUp = (json: string, limit = 9): unknown => {
    const elements = elementTexts(Buffer.from(json), limit)
    return typeof elements === 'string' ? elements : elements.map(String)
  }
  t.same(cutUp(' [ {"a":[1,2]} , "],[" ,3 ] '), ['{"a":[1,2]}', '"],["', '3'])
  t.same(cutUp('[]'), [])
  t.same(cutUp('[1,]'), ['1', ''], 'what is in an element is for its parser to judge')
  t.equal(cutUp('{}'), 'NOT_AN_ARRAY')
  t.equal(cutUp(''), 'NOT_AN_ARRAY')
  t.equal(cutUp('[1'), 'MALFORMED')
  t.equal(cutUp('[1] 2'), 'MALFORMED')
  t.equal(cutUp('[}'), 'MALFORMED')
  t.equal(cutUp('[1,2,3]', 2), 'TOO_MANY')
})

t.test('the texts of members and elements parse to what the whole parses to', async () => {
  const key = fc.string().filter((name) => name !== '__proto__')
  const value = fc.dictionary(key, fc.jsonValue({ maxDepth: 4 }))
  fc.assert(
    fc.property(value, fc.constantFrom(0, 1, 3), (object, indent) => {
      const json = Buffer.from(JSON.stringify(object, null, indent))
      for (const name of Object.keys(object)) {
        const text = memberText(json, [name])?.toString() ?? 'absent'
        if (JSON.stringify(JSON.parse(text)) !== JSON.stringify(object[name])) return false
      }
      const array = Object.values(object)
      const elements = elementTexts(Buffer.from(JSON.stringify(array, null, indent)), 1000)
      return (
        Array.isArray(elements) &&
        elements.every((text, i) =>
          text.equals(Buffer.from(JSON.stringify(array[i], null, indent).replaceAll('\n', '\n' + ' '.repeat(indent)))),
        )
      )
    }),
    { seed: 12, numRuns: 500 },
  )
})

t.test('bytes of any kind are parsed or refused, never thrown on', async () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array)),
    fc
      .string({ unit: fc.constantFrom('[', ']', '{', '}', '"', ',', ':', '\\', '1', ' ', 'u') })
      .map((text) => Buffer.from(text)),
  )
  fc.assert(
    fc.property(bytes, (json) => {
      const parsed = parseJson(json)
      nestsDeeperThan(json, 3)
      elementTexts(json, 10)
      return parsed.ok || parsed.faults[0].code in inputErrors
    }),
    { seed: 13, numRuns: 3000 },
  )
})

t.test('numbers become the texts that were sent; all else, and what is no JSON, stays', async (t) => {
  const quoted = (json: string): string => quoteNumbers(Buffer.from(json)).toString()
  t.equal(
    quoted('{"a":12345678901234567890,"b":[1.50,-0,1e5,-2.5E-3],"c":"7 \\" 8","d":true,"e":null}'),
    '{"a":"12345678901234567890","b":["1.50","-0","1e5","-2.5E-3"],"c":"7 \\" 8","d":true,"e":null}',
  )
  t.equal(quoted('9'), '"9"')
  t.equal(
    quoteNumbers(Buffer.from('[-1,0,12345678901234567890,1.0,1e3]'), 'whole').toString(),
    '["-1","0","12345678901234567890",1.0,1e3]',
  )
  for (const json of ['{"a":01}', '[1.2.3]', '[-]', '{"x1":false}', '']) t.equal(quoted(json), json, json)
})
