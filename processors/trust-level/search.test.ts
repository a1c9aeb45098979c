import t from 'tap'
import { searchQuery } from './queries/search.js'
import { PLUGIN, TrustLevelKit } from './test-kit.js'
import type { Condition, SearchArguments } from './views.js'

const DATA_PLUGIN = 'http://data:1'
const property = (name: string, value: string): { name: string; value: string } => ({ name, value })

function filled(): TrustLevelKit {
  const kit = new TrustLevelKit()
  kit.register({
    created: [
      {
        cmHandle: 'a',
        alternateId: 'alt/a',
        publicProperties: [property('p', '1'), property('q', '2')],
        additionalProperties: [property('secret', 's')],
        moduleSetTag: 'tag',
        dataProducerIdentifier: 'producer',
      },
      { cmHandle: 'b', publicProperties: [property('p', '1')], trustLevel: 'NONE' },
      { cmHandle: 'c', alternateId: 'alt/c', publicProperties: [property('p', '3')] },
    ],
  })
  kit.register({
    plugins: { dmiDataPlugin: DATA_PLUGIN, dmiModelPlugin: PLUGIN },
    created: ['d', { cmHandle: 'e', alternateId: 'alt/e', trustLevel: 'NONE' }],
  })
  kit.when('c', { type: 'DataSyncSet', data: { cmHandle: 'c', dataSyncEnabled: true } })
  return kit
}

const leaf = (name: Extract<Condition, { kind: 'leaf' }>['leaf'], ...values: string[]): Condition => ({
  kind: 'leaf',
  leaf: name,
  values,
})

t.test('each condition finds what it says, alone and with others', async (t) => {
  const kit = filled()
  const NONE: Condition = { kind: 'trustLevel', level: 'NONE' }
  const COMPLETE: Condition = { kind: 'trustLevel', level: 'COMPLETE' }
  const ofPlugin: Condition = { kind: 'dmiPlugin', name: PLUGIN }
  const created = new Date(kit.time).toISOString().replace('Z', '+0000')
  const rows: [Condition[], string][] = [
    [[], 'abcde'],
    [[NONE], 'be'],
    [[COMPLETE], 'acd'],
    [[NONE, COMPLETE], ''],
    [[NONE, NONE], 'be'],
    [[{ kind: 'nothing' }], ''],
    [[{ kind: 'publicProperties', properties: [['p', '1']] }], 'ab'],
    [
      [
        {
          kind: 'publicProperties',
          properties: [
            ['p', '1'],
            ['q', '2'],
          ],
        },
      ],
      'a',
    ],
    [[{ kind: 'publicProperties', properties: [['secret', 's']] }], ''],
    [[{ kind: 'additionalProperties', properties: [['secret', 's']] }], 'a'],
    [[{ kind: 'publicProperty', name: 'p', value: null }], 'abc'],
    [[{ kind: 'publicProperty', name: 'p', value: '3' }], 'c'],
    [[{ kind: 'publicProperties', properties: [['p', '1']] }, NONE], 'b'],
    [[ofPlugin], 'abcde'],
    [[{ kind: 'dmiPlugin', name: DATA_PLUGIN }], 'de'],
    [[{ kind: 'dmiPlugin', name: 'http://unknown' }], ''],
    [[ofPlugin, { kind: 'dmiPlugin', name: DATA_PLUGIN }], 'de'],
    [[{ kind: 'dmiPlugin', name: DATA_PLUGIN }, NONE], 'e'],
    [[leaf('id', 'c', 'a', 'zz')], 'ac'],
    [[leaf('id', 'b', 'a'), NONE], 'b'],
    [[leaf('id', 'b', 'a'), leaf('id', 'a')], 'a'],
    [[leaf('alternate-id', 'alt/c')], 'c'],
    [[leaf('module-set-tag', 'tag')], 'a'],
    [[leaf('data-producer-identifier', 'producer')], 'a'],
    [[leaf('dmi-service-name', PLUGIN)], 'abc'],
    [[leaf('dmi-data-service-name', DATA_PLUGIN)], 'de'],
    [[leaf('dmi-model-service-name', PLUGIN)], 'de'],
    [[leaf('state/cm-handle-state', 'READY')], 'abcde'],
    [[leaf('state/cm-handle-state', 'LOCKED')], ''],
    [[leaf('state/data-sync-enabled', 'true')], 'c'],
    [[leaf('state/last-update-time', created)], 'abcde'],
  ]
  for (const [conditions, expected] of rows) {
    const said = JSON.stringify(conditions)
    t.equal((await kit.search(...conditions)).join(''), expected, said)
    const views = await kit.searchViews({ conditions })
    t.equal(
      views
        .map((view) => view.cmHandle)
        .sort()
        .join(''),
      expected,
      `${said}: views`,
    )
    for (const view of views) t.equal(view.trustLevel, await kit.level(view.cmHandle), `${said}: ${view.cmHandle}`)
  }
})

t.test('alternate ids come out in place of ids where there are any', async (t) => {
  const kit = filled()
  const texts = async (...conditions: Condition[]): Promise<string[]> =>
    (await kit.searchTexts({ conditions, fields: 'alternateId' })).sort()
  t.strictSame(await texts(), ['alt/a', 'alt/c', 'alt/e', 'b', 'd'])
  t.strictSame(await texts({ kind: 'trustLevel', level: 'NONE' }), ['alt/e', 'b'])
  t.strictSame(await texts({ kind: 'trustLevel', level: 'COMPLETE' }), ['alt/a', 'alt/c', 'd'])
  t.strictSame(await texts({ kind: 'publicProperty', name: 'p', value: '1' }), ['alt/a', 'b'])
})

t.test('the trust level is left out of views where it is not asked for', async (t) => {
  const views = await filled().searchViews({ conditions: [], trustLevels: false })
  t.equal(views.length, 5)
  t.ok(views.every((view) => !JSON.stringify(view).includes('trustLevel')))
})

t.test('pages follow one another in key order and together are the whole, for every way to walk', async (t) => {
  const kit = new TrustLevelKit({}, { partitions: 1 })
  const ids = Array.from({ length: 25 }, (_, i) => `dev-${String(i).padStart(2, '0')}`)
  for (const [i, cmHandle] of ids.entries()) {
    const plugins = { dmiPlugin: `http://dmi-${i % 3}` }
    const publicProperties = [property('even', String(i % 2 === 0))]
    kit.register({ plugins, created: [{ cmHandle, trustLevel: i % 4 === 0 ? 'NONE' : 'COMPLETE', publicProperties }] })
  }
  kit.check(false, 'http://dmi-1')
  const searches: Condition[][] = [
    [],
    [{ kind: 'trustLevel', level: 'NONE' }],
    [{ kind: 'trustLevel', level: 'COMPLETE' }],
    [{ kind: 'dmiPlugin', name: 'http://dmi-2' }],
    [leaf('id', ...ids)],
    [{ kind: 'publicProperty', name: 'even', value: 'true' }],
    [
      { kind: 'publicProperty', name: 'even', value: 'true' },
      { kind: 'trustLevel', level: 'NONE' },
    ],
  ]
  for (const conditions of searches) {
    for (const fields of ['id', 'alternateId', 'view'] as const) {
      const whole = await page(kit, { conditions, fields })
      t.strictSame(whole.ids, [...whole.ids].sort())
      for (const limit of [1, 2, 7, 25]) {
        const walked: string[] = []
        let after: string | null = null
        do {
          const next = await page(kit, { conditions, fields, limit, ...(after !== null && { after }) })
          t.ok(next.ids.length <= limit)
          walked.push(...next.ids)
          after = next.last
        } while (after !== null)
        t.strictSame(walked, whole.ids, `${JSON.stringify(conditions)} ${fields} by ${limit}`)
      }
    }
  }
})

async function page(kit: TrustLevelKit, args: SearchArguments): Promise<{ ids: string[]; last: string | null }> {
  const [{ texts, views, last } = { texts: [], views: [], last: null }] = await kit.queryAll(searchQuery, args)
  return { ids: [...texts, ...views.map((view) => view.cmHandle)], last }
}
