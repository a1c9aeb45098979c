import t from 'tap'
import { DOMAIN, testCluster, turn, untilLive } from '../../api/instances/test-cluster.js'
import { memoryProvider } from '../../state-stores/memory/provider.js'
import type { Audit } from '../../topology/audit/audit.js'
import type { AllCopies } from '../../topology/audit/copies.js'
import { verify } from '../../topology/audit/verify.js'
import type { Verification } from '../../topology/audit/verify.js'
import { apiReader } from './api-reader.js'

const ids = Array.from({ length: 20 }, (_, i) => ({ cmHandle: `dev-${i}` }))

t.test(
  'live copies of all instances are compared with the journal: owner, standby, one tampered with, one gone',
  async (t) => {
    const cluster = await testCluster(t, 2)
    const [a, b] = [await cluster.start(), await cluster.start()]
    await untilLive(2, a, b)
    await a.request({
      method: 'POST',
      url: '/ncmpInventory/v1/ch',
      payload: { dmiPlugin: 'http://dmi-1', createdCmHandles: ids },
    })
    const reader = apiReader(a.url, '')
    const stores = memoryProvider()
    let opened = 0
    const audit: Audit = {
      source: { reader },
      applicationId: 'test',
      processors: a.application.processors,
      openStore: () => stores.open(`store-${++opened}`),
    }
    const verified = async (copies: AllCopies): Promise<readonly Verification[]> =>
      verify(audit, { domains: [DOMAIN], copies })
    /** All that is sealed so far is applied by the standbys, and nothing more comes. */
    const settled = async (): Promise<AllCopies> => {
      for (;;) {
        const all = await reader.copies()
        const offsets = [0, 1].map((partition) => {
          const ofPartition = all.copies.filter((copy) => copy.domain === DOMAIN && copy.partition === partition)
          return [ofPartition.length, new Set(ofPartition.map(({ offset }) => offset)).size]
        })
        if (JSON.stringify(offsets) === '[[2,1],[2,1]]') return all
        await turn()
      }
    }
    const copies = await settled()
    t.same(copies.unread, [])
    for (const { verdict, kept, partition } of await verified(copies)) {
      t.equal(verdict, 'equal', `${partition}`)
      const names = kept.map(({ name }) => name).sort()
      const held = (role: string) => [a, b].map(({ url }) => `${role} at ${url}`)
      t.match(names, [/^active at/, 'changelog', /^standby at/])
      t.ok(held('active').includes(names[0] ?? '') && held('standby').includes(names[2] ?? ''))
      t.ok(kept.every(({ isEqual, ofRows, sealed }) => isEqual === true && ofRows === sealed))
    }

    const standby = b.application.standbys.find(({ domain }) => domain === DOMAIN)!
    const store = standby.rows.store
    const keys: Buffer[] = []
    for await (const page of store.entries({ gte: Buffer.from('\u0014') })) keys.push(...page.map(([key]) => key))
    await store.write([{ key: keys[0]!, value: null }])
    const tampered = (await verified(await settled()))[standby.partition]
    t.equal(tampered?.verdict, 'different')
    t.same(
      tampered?.kept.filter(({ isEqual }) => isEqual !== true).map(({ name }) => name),
      [`standby at ${b.url}`],
    )

    await b.cutOff()
    const gone = (await verified(await reader.copies()))[1 - standby.partition]
    t.equal(gone?.verdict, 'unknown')
    t.match(gone?.notVerified.at(-1), { from: 0, why: /^not compared: no answer from / })
  },
)
