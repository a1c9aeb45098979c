import t from 'tap'
import { settingsWith } from '../../common/settings.js'
import { foreignClient } from '../../topology/log/kafka/foreign-client.js'
import { realBrokers } from '../../topology/log/kafka/real-brokers.js'
import { declaredProcessors } from '../process/declared-processors.js'
import { onKafka, startSystem } from './fixtures.js'
import type { System } from './fixtures.js'

const brokers = realBrokers(t)

/** Paths of each domain, as a client asks them. */
const pathsOf = {
  'trust-level': ['/ncmp/v1/ch/dev-1', '/ops/dmi-plugins', '/ops/trust-levels/transitions'],
  'keep-alive': ['/v1/e2t/list', '/ops/routing-manager'],
  'address-health': ['/external-platforms'],
} as const

/** 405 for a method that the path does not take, 404 where there is no such path. */
async function isRouted(system: System, path: string): Promise<boolean> {
  return (await system.ask(path, { method: 'OPTIONS' })).status === 405
}

t.test('all domains run by default', async (t) => {
  const settings = settingsWith({})
  t.same(
    declaredProcessors(settings).map(({ name }) => name),
    settings.domains,
  )
})

for (const [domain] of Object.entries(pathsOf)) {
  t.test(`${domain} alone: its topics, its paths, its state`, async (t) => {
    const system = await startSystem(t, { domains: [domain] })
    const { application } = system.pulsefold()
    t.same([...new Set(application.tasks.map(({ processor }) => processor.name))], [domain])
    const journals = (await application.log.topics()).flatMap(({ name }) => (name.endsWith('-journal') ? [name] : []))
    t.same(journals, [`pulsefold-${domain}-journal`])
    for (const [of, paths] of Object.entries(pathsOf)) {
      for (const path of paths) t.equal(await isRouted(system, path), of === domain, path)
    }
    const { paths: described } = await system.json<{ paths: object }>('/openapi.json')
    t.equal('/ncmp/v1/ch/id-searches' in described, domain === 'trust-level')
    t.equal('/external-platforms' in described, domain === 'address-health')
    const { subtopologies } = await system.json<{ subtopologies: { domain: string }[] }>('/ops/topology?format=json')
    t.same([...new Set(subtopologies.map((subtopology) => subtopology.domain))], [domain])
    t.equal((await system.ask('/ops/health/ready')).status, 200)
  })
}

if (brokers.length > 0) {
  t.test('on Kafka only the input topics of the domains that run are asked for', async (t) => {
    const values = await onKafka(t, brokers)
    const { admin } = await foreignClient(t, brokers)
    await admin.createTopics({ topics: [{ topic: String(values.callOutcomeTopic), numPartitions: 3 }] })
    const system = await startSystem(t, { ...values, createInputTopics: false, domains: ['address-health'] })
    t.equal((await system.ask('/ops/health/ready')).status, 200, 'ready without the others')
    const own = (await admin.listTopics()).filter((topic) => topic.startsWith(String(values.applicationId)))
    const suffixes = own.map((topic) => topic.slice(String(values.applicationId).length + 1)).sort()
    t.same(suffixes, [
      'address-health-changelog',
      'address-health-digests',
      'address-health-journal',
      'alarms',
      'dead-letters',
      'health',
      'outcomes',
      'sources',
    ])
  })
}
