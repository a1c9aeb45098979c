import { join } from 'node:path'
import t from 'tap'
import type { Explanation } from '../../topology/audit/explain.js'
import type { PartitionDiff } from '../../topology/audit/diff-states.js'
import type { ReplayedJournal } from '../../topology/audit/replay-journals.js'
import type { StateAt } from '../../topology/audit/state-at.js'
import type { Verification } from '../../topology/audit/verify.js'
import type { WhatIf } from '../../topology/audit/what-if.js'
import type { Archived } from '../../topology/archive/archive-writer.js'
import { foreignClient } from '../../topology/log/kafka/foreign-client.js'
import type { ForeignClient } from '../../topology/log/kafka/foreign-client.js'
import { realBrokers } from '../../topology/log/kafka/real-brokers.js'
import { names } from '../../topology/names.js'
import { commandJson } from './command-line.js'
import { heartbeat, onKafka, PLUGIN, startSystem, temporaryFolder } from './fixtures.js'
import { platformsOf } from './outcomes.js'

const brokers = realBrokers(t)

/**
 * All that an audit could leave behind in a cluster: topics, where they end, groups, and where they stand. The running system itself
 * probes its log by records of the health topic.
 */
async function standing({ admin }: ForeignClient, applicationId: string): Promise<Record<string, unknown>> {
  const probed = names.health(applicationId)
  const topics = (await admin.listTopics()).filter((one) => one.includes(applicationId) && one !== probed).sort()
  const groups = (await admin.listGroups()).groups.map(({ groupId }) => groupId)
  const ends = topics.map(async (topic) => [topic, await admin.fetchTopicOffsets(topic)] as const)
  const ours = groups.filter((group) => group.includes(applicationId)).sort()
  const offsets = ours.map(async (groupId) => [groupId, await admin.fetchOffsets({ groupId })] as const)
  return { ends: await Promise.all(ends), offsets: await Promise.all(offsets) }
}

const digestsOf = (replayed: unknown): Record<string, string> =>
  Object.fromEntries(
    (replayed as ReplayedJournal[]).map(({ domain, partition, digest }) => [`${domain}/${partition}`, digest]),
  )

if (brokers.length > 0) {
  t.test('OR-06 every audit command reads journals on Kafka and leaves nothing there', async (t) => {
    const client = await foreignClient(t, brokers)
    const values = { ...(await onKafka(t, brokers)), partitions: 2 }
    const applicationId = String(values.applicationId)
    const system = await startSystem(t, values)
    const platforms = platformsOf(system, values.alarmTopic)
    await platforms.create('vm', ['a1', 'a2'], { detectInterval: 500, retryInterval: 3_600_000 })
    await platforms.report([{ platform: 'vm', address: 'a1', result: 'failure' }])
    await platforms.stateIs('vm', 'failed')
    await system.register(PLUGIN, ['dev-1', 'dev-2'])
    const before = (await system.ask('/ncmp/v1/ch/dev-1')).headers['x-pulsefold-position']
    await system.append([heartbeat('dev-1', 'NONE')])
    await system.levelIs('dev-1', 'NONE')

    const archive = join(temporaryFolder(t), 'archive')
    const flags = ['--kafka-brokers', brokers.join(), '--application-id', applicationId]
    const tasks = system.pulsefold().application.tasks
    for (const task of tasks) await task.commit({ changelog: true })
    const positions = tasks.map(({ processor, partition, committedOffset }) => {
      return `${system.pulsefold().application.journal(processor.name).topic}/${partition}/${committedOffset - 1}`
    })
    const live = Object.fromEntries(
      tasks.map(({ processor, partition, digest }) => [`${processor.name}/${partition}`, digest.rows.toHex()]),
    )
    const stood = await standing(client, applicationId)

    const replayed = await commandJson('replay', ...flags, '--position', positions.join())
    t.same(digestsOf(replayed.found), live)
    t.match(replayed.err, /^\d+ of \d+ records$/m, 'it tells how far it is')
    const found = (await commandJson('state', 'dev-1', ...flags, '--position', String(before))).found as StateAt
    t.match(found.weAnswered, [{ result: { state: { trustLevel: 'COMPLETE' } } }])
    t.same(found.weAnswered[0]?.gaps, [])
    const explained = (await commandJson('explain', 'dev-1', ...flags)).found as Explanation[]
    t.match(explained, [{ state: { trustLevel: 'NONE' } }])
    t.same(explained[0]?.gaps, [])
    t.match(explained[0]?.steps.at(-1), {
      what: 'HeartbeatReported',
      producer: 'test',
      before: { trustLevel: 'COMPLETE' },
    })
    const verified = await commandJson('verify', ...flags)
    t.equal(verified.code, 0)
    t.ok(
      (verified.found as Verification[]).every(
        ({ verdict, kept }) => verdict === 'equal' && kept[0]?.name === 'changelog',
      ),
    )
    const { url } = system.pulsefold()
    const copies = await commandJson('verify', '--url', url, '--domain', 'trust-level')
    t.equal(copies.code, 0)
    t.match(copies.found, [{ kept: [{ name: 'changelog' }, { name: `active at ${url}`, isEqual: true }] }, {}])
    const diff = await commandJson('diff', String(before), 'end', ...flags, '--keys', 'dev-1')
    t.equal(diff.code, 1)
    t.ok((diff.found as PartitionDiff[]).some(({ rows }) => rows.some(({ key }) => key === 'dev-1')))
    const other = (await commandJson('what-if', '--set', 'maxFutureSkewMs=1', ...flags)).found as WhatIf
    t.match(other.settings, { maxFutureSkewMs: { after: 1 } })
    t.same(other.gaps, [])
    const first = (await commandJson('archive', archive, ...flags)).found as Archived
    t.ok(first.segments > 0)

    t.same(await standing(client, applicationId), stood, 'no topic, no record, no group and no offset more')
    t.equal(await system.level('dev-1'), 'NONE')
    t.same(await platforms.alarms(1), ['raised vm/1 THRESHOLD'])

    await system.append([heartbeat('dev-2', 'NONE')])
    await system.levelIs('dev-2', 'NONE')
    await system.stop()
    const stopped = await standing(client, applicationId)
    const more = (await commandJson('archive', archive, ...flags)).found as Archived
    t.ok(more.segments > 0 && more.records < first.records, 'the archive goes on where it ended')
    t.match((await commandJson('archive', archive, ...flags)).found, { segments: 0 })
    t.match((await commandJson('archive', 'check', archive, '--head', more.head)).found, {
      isSound: true,
    })
    const { found: ofArchive } = await commandJson('replay', '--archive', archive)
    const { found: ofKafka } = await commandJson('replay', ...flags)
    t.same(digestsOf(ofArchive), digestsOf(ofKafka))
    t.equal((await commandJson('verify', '--archive', archive)).code, 0)
    t.same(await standing(client, applicationId), stopped)
    const long = [
      ['state', 'dev-1'],
      ['explain', 'dev-1'],
      ['diff', 'end', 'end'],
      ['verify'],
      ['what-if', '--set', 'maxFutureSkewMs=1'],
    ]
    for (const command of long) {
      const { err } = await commandJson(command[0]!, ...command.slice(1), ...flags)
      t.match(err, /^\d+ of \d+ records$/m, `${command[0]} tells how far it is`)
    }

    const journal = { topic: `${applicationId}-trust-level-journal`, partition: 0 }
    await client.deleteBefore(journal, 1)
    const one = ['--domain', 'trust-level', ...flags]
    const open = await commandJson('verify', ...one)
    t.equal(open.code, 2)
    t.match(open.found, [{ verdict: 'unknown', gaps: [{ ...journal, from: 0, to: 1 }] }, { verdict: 'equal' }])
    t.equal((await commandJson('verify', ...one, '--history', archive)).code, 0, 'the archive has what the log lacks')
  })
}
