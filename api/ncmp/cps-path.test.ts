import t from 'tap'
import { ApiError } from '../errors.js'
import { parseCpsPath } from './cps-path.js'

const leaf = (name: string, ...values: string[]): object => ({ kind: 'leaf', leaf: name, values })

t.test('paths of the documented subset become conditions', async (t) => {
  const cases: readonly (readonly [path: string, conditions: readonly object[]])[] = [
    ["//state[@cm-handle-state='READY']", [leaf('state/cm-handle-state', 'READY')]],
    [
      "//state[@cm-handle-state='LOCKED' or @cm-handle-state='ADVISED']",
      [leaf('state/cm-handle-state', 'LOCKED', 'ADVISED')],
    ],
    ["//state[@data-sync-enabled='true']/ancestor::cm-handles", [leaf('state/data-sync-enabled', 'true')]],
    ["//cm-handles[@alternate-id='/a=1/b=2']", [leaf('alternate-id', '/a=1/b=2')]],
    ['//cm-handles[@id="ch-1" and @module-set-tag=\'m\']', [leaf('id', 'ch-1'), leaf('module-set-tag', 'm')]],
    ["//cm-handles[@id='x'][@module-set-tag='m']", [leaf('id', 'x'), leaf('module-set-tag', 'm')]],
    ["/dmi-registry/cm-handles[@module-set-tag='x']", [leaf('module-set-tag', 'x')]],
    [
      "/dmi-registry/cm-handles[@id='a']/state[@cm-handle-state='READY']",
      [leaf('id', 'a'), leaf('state/cm-handle-state', 'READY')],
    ],
    ["//cm-handles[ @dmi-service-name = 'it''s' ]", [leaf('dmi-service-name', "it's")]],
    ["//cm-handles[@cm-handle-state='READY']", [leaf('state/cm-handle-state', 'READY')]],
    [
      "//public-properties[@name='k' and @value='v']/ancestor::cm-handles",
      [{ kind: 'publicProperty', name: 'k', value: 'v' }],
    ],
    ["//public-properties[@value='v' and @name='k']", [{ kind: 'publicProperty', name: 'k', value: 'v' }]],
    ["//public-properties[@name='k']", [{ kind: 'publicProperty', name: 'k', value: null }]],
    ['//cm-handles', []],
    ['//state', []],
    ["//additional-properties[@name='k' and @value='v']/ancestor::cm-handles", [{ kind: 'nothing' }]],
    ["/dmi-registry/cm-handles[@id='a']/additional-properties", [leaf('id', 'a'), { kind: 'nothing' }]],
    ["//lock-reason[@reason='MODULE_SYNC_FAILED']/ancestor::cm-handles", [{ kind: 'nothing' }]],
    ["//cm-handles/state/lock-reason[@reason='x']", [{ kind: 'nothing' }]],
  ]
  for (const [path, conditions] of cases) t.strictSame(parseCpsPath(path), conditions, path)
})

t.test('everything else is refused, with what is supported', async (t) => {
  const paths = [
    '/',
    '//',
    'cm-handles',
    '//cm-handles[',
    '//cm-handles[]',
    '//cm-handles[@id]',
    "//cm-handles[@id='a'",
    "//cm-handles[@id='a]",
    '//cm-handles[@id=a]',
    "//cm-handles[@id='a' and]",
    "//cm-handles[@id='a' or @module-set-tag='b']",
    "//cm-handles[@id='a' or @id='b' and @id='c']",
    "//cm-handles[@id='a']'; DROP TABLE fragment; --",
    "//cm-handles[@id='a' or '1'='1']",
    "//cm-handles[@id='a'] | //state",
    "//cm-handles[contains(@id,'a')]",
    "//cm-handles[@id!='a']",
    "//cm-handles[not(@id='a')]",
    '//cm-handles[position()=1]',
    '//cm-handles/@id',
    "//cm-handles/text()='a'",
    "//cm-handles[@unknown='a']",
    "//cm-handles[@__proto__='a']",
    "//cm-handles[@constructor='a']",
    "//state[@id='a']",
    "//public-properties[@value='v']",
    "//public-properties[@name='k' and @name='l']",
    "//public-properties[@name='k' or @name='l']",
    "//public-properties[@name='k' and @value='v' and @other='w']",
    '//state/cm-handles',
    '//cm-handles/state/state',
    '//cm-handles/cm-handles',
    "//toString[@id='a']",
    '/dmi-registry',
    '/dmi-registry/',
    "/dmi-registry/state[@cm-handle-state='READY']",
    '/other/cm-handles',
    "//cm-handles[@id='a']/ancestor::dmi-registry",
    '//ancestor::cm-handles',
    `//cm-handles[@id='${"'".repeat(10000)}]`,
    '//cm-handles' + "[@id='a'".repeat(5000),
  ]
  for (const path of paths) {
    t.throws(() => parseCpsPath(path), ApiError, path.slice(0, 80))
    t.throws(() => parseCpsPath(path), { code: 'QUERY_INVALID', message: /support|leaf/ }, path.slice(0, 80))
  }
})
