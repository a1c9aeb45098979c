import t from 'tap'
import { pluginAddressPolicy } from '../../common/plugin-address.js'
import { ApiError } from '../errors.js'
import { parseConditions } from './query-conditions.js'
import type { ConditionRules } from './query-conditions.js'

const policy = pluginAddressPolicy(
  { httpHost: '127.0.0.1', httpPort: 8080, advertisedUrl: '', allowedUrlPattern: '' },
  [],
)
const north: ConditionRules = { side: 'north', deprecatedConditions: true, pluginAddressPolicy: policy }
const south: ConditionRules = { side: 'south', deprecatedConditions: false, pluginAddressPolicy: policy }
const one = (conditionName: unknown, ...conditionParameters: unknown[]): object => ({
  cmHandleQueryParameters: [{ conditionName, conditionParameters }],
})

t.test('bodies that stand for every handle', async (t) => {
  for (const body of [{}, { cmHandleQueryParameters: [] }, { cmHandleQueryParameters: null }, { other: 1 }]) {
    t.strictSame(parseConditions(body, north), [], JSON.stringify(body))
  }
})

t.test('conditions are read', async (t) => {
  const cases: readonly (readonly [body: object, conditions: readonly object[]])[] = [
    [
      one('hasAllProperties', { a: 'x' }, { b: 1 }, { a: true }),
      [
        {
          kind: 'publicProperties',
          properties: [
            ['a', 'true'],
            ['b', '1'],
          ],
        },
      ],
    ],
    [one('hasAllAdditionalProperties', { a: 'x' }), [{ kind: 'additionalProperties', properties: [['a', 'x']] }]],
    [one('cmHandleWithTrustLevel', { trustLevel: 'NONE' }), [{ kind: 'trustLevel', level: 'NONE' }]],
    [one('cmHandleWithTrustLevel', { anyKey: 'COMPLETE' }), [{ kind: 'trustLevel', level: 'COMPLETE' }]],
    [one('cmHandleWithCpsPath', { cpsPath: '//cm-handles' }), []],
    [
      one('cmHandleWithDmiPlugin', { dmiPluginName: 'HTTP://DMI-1:8080/' }),
      [{ kind: 'dmiPlugin', name: 'http://dmi-1:8080' }],
    ],
    [
      one('cmHandleWithCpsPath', {
        cpsPath:
          "//cm-handles[@id='HTTP://DMI-1/'][@dmi-data-service-name='HTTP://DMI-1:80/' or @dmi-data-service-name='x/']",
      }),
      [
        { kind: 'leaf', leaf: 'id', values: ['HTTP://DMI-1/'] },
        { kind: 'leaf', leaf: 'dmi-data-service-name', values: ['http://dmi-1', 'x/'] },
      ],
    ],
    [one('cmHandleWithDmiPlugin', { dmiPluginName: 'unknown' }), [{ kind: 'dmiPlugin', name: 'unknown' }]],
    [
      {
        cmHandleQueryParameters: [
          { conditionName: 'hasAllProperties', conditionParameters: [{ a: 'first' }] },
          { conditionName: 'hasAllProperties', conditionParameters: [{ a: 'second' }] },
        ],
      },
      [{ kind: 'publicProperties', properties: [['a', 'first']] }],
    ],
  ]
  for (const [body, conditions] of cases) t.strictSame(parseConditions(body, south), conditions, JSON.stringify(body))
})

t.test("what is wrong is told in upstream's order with its texts", async (t) => {
  const wrongName = (name: string): RegExp =>
    new RegExp(`^Wrong 'conditionName': ${name} - please supply a valid name\\.$`)
  const cases: readonly (readonly [body: object, rules: ConditionRules, message: string | RegExp])[] = [
    [one(undefined, { a: 1 }), north, "Missing 'conditionName' - please supply a valid name."],
    [one('', { a: 1 }), north, "Missing 'conditionName' - please supply a valid name."],
    [one('unknown'), north, wrongName('unknown')],
    [one('toString', { a: 1 }), north, wrongName('toString')],
    [one(7, { a: 1 }), north, wrongName('7')],
    [one('cmHandleWithDmiPlugin', { dmiPluginName: 'x' }), north, wrongName('cmHandleWithDmiPlugin')],
    [one('hasAllAdditionalProperties', { a: 'x' }), north, wrongName('hasAllAdditionalProperties')],
    [one('hasAllProperties'), north, "Empty 'conditionsParameters' - please supply a valid condition parameter."],
    [{ cmHandleQueryParameters: [{ conditionName: 'hasAllProperties' }] }, north, /^Empty 'conditionsParameters'/],
    [one('hasAllProperties', {}), north, "Empty 'conditionsParameter' - please supply a valid condition parameter."],
    [one('hasAllProperties', { a: 1, b: 2 }), north, /^Too many names in one 'conditionsParameter'/],
    [one('hasAllProperties', { '': 1 }), north, "Missing 'conditionsParameterName' - please supply a valid name."],
    [one('hasAllProperties', { a: null }), north, /^Wrong 'conditionsParameter' value/],
    [one('hasAllModules', { moduleName: 'M1' }), north, /no module data/],
    [one('hasAllModules', { moduleName: 'M1' }), south, /no module data/],
    [one('hasAllModules', { wrong: 'M1' }), north, /^Wrong module condition property/],
    [one('hasAllModules', { moduleName: '' }), north, /^Wrong module condition property/],
    [one('cmHandleWithTrustLevel', { trustLevel: 'POOR' }), north, /^Wrong trust level: POOR/],
    [one('cmHandleWithTrustLevel', { trustLevel: 'complete' }), north, /^Wrong trust level/],
    [one('cmHandleWithTrustLevel', { trustLevel: '' }), north, /^Wrong trust level/],
    [one('cmHandleWithTrustLevel', { trustLevel: 'NONE' }, { trustLevel: 'COMPLETE' }), north, /^Only one/],
    [one('cmHandleWithCpsPath', { cpsPath: '//state' }, { cpsPath: '//state' }), north, /^Only one condition property/],
    [one('cmHandleWithCpsPath', { path: '//state' }), north, /^Wrong CPS path condition property/],
    [one('cmHandleWithCpsPath', { cpsPath: '  ' }), north, 'Wrong CPS path. - please supply a valid CPS path.'],
    [one('cmHandleWithCpsPath', { cpsPath: 'nonsense' }), north, /is not supported; supported:/],
    [one('cmHandleWithDmiPlugin', { other: 'x' }), south, /^Wrong DMI plugin condition property/],
    [{ conditions: [{ name: 'hasAllModules', conditionParameters: [{ moduleName: 'm' }] }] }, north, /no module data/],
    [{ conditions: [{ name: 'other' }] }, north, wrongName('other')],
  ]
  for (const [body, rules, message] of cases) {
    t.throws(() => parseConditions(body, rules), { code: 'QUERY_INVALID', message }, JSON.stringify(body))
  }
})

t.test('deprecated conditions count only where they are known, and only without new ones', async (t) => {
  const deprecated = { conditions: [{ name: 'hasAllModules', conditionParameters: [{ moduleName: 'm' }] }] }
  t.strictSame(parseConditions(deprecated, south), [])
  const both = { ...deprecated, ...one('cmHandleWithTrustLevel', { trustLevel: 'NONE' }) }
  t.strictSame(parseConditions(both, north), [{ kind: 'trustLevel', level: 'NONE' }])
})

t.test('what is no such JSON is malformed', async (t) => {
  const bodies = [
    undefined,
    null,
    [],
    'text',
    { cmHandleQueryParameters: {} },
    { cmHandleQueryParameters: [null] },
    { cmHandleQueryParameters: ['x'] },
    { cmHandleQueryParameters: [{ conditionName: 'hasAllProperties', conditionParameters: 'x' }] },
    { cmHandleQueryParameters: [{ conditionName: 'hasAllProperties', conditionParameters: ['x'] }] },
  ]
  for (const body of bodies) {
    t.throws(() => parseConditions(body, north), ApiError)
    t.throws(() => parseConditions(body, north), { code: 'BODY_MALFORMED' }, JSON.stringify(body))
  }
})
