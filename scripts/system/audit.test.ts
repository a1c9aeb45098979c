import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import type { Entry } from '../../state-stores/key-value-store.js'
import { rocksDbProvider } from '../../state-stores/rocksdb/provider.js'
import { writeArchive } from '../../topology/archive/write-archive.js'
import type { Explanation } from '../../topology/audit/explain.js'
import { replayJournals } from '../../topology/audit/replay-journals.js'
import type { StateAt } from '../../topology/audit/state-at.js'
import { verify } from '../../topology/audit/verify.js'
import type { Verification } from '../../topology/audit/verify.js'
import { openTaskStoreReader } from '../audit/embedded-reader.js'
import { openAudit } from '../audit/open-audit.js'
import type { SourceFlags } from '../audit/open-audit.js'
import { projectDirectory } from '../project-directory.js'
import { heartbeat, PLUGIN, startSystem, temporaryFolder } from './fixtures.js'

const cli = join(projectDirectory, 'dist/scripts/cli.js')

t.test(
  'the journals of a running Pulsefold are read over its API, those of a stopped one from its directory',
  async (t) => {
    const dataDir = temporaryFolder(t)
    const system = await startSystem(t, { dataDir, auditToken: 'secret' })
    await system.register(PLUGIN, ['dev-1', { cmHandle: 'dev-2', trustLevel: 'NONE' }])
    await system.append([heartbeat('dev-1', 'NONE')])
    await system.levelIs('dev-1', 'NONE')
    const { application, url } = system.pulsefold()
    const live: Record<string, string> = {}
    const until = {
      kind: 'positions' as const,
      positions: [] as { topic: string; partition: number; offset: number }[],
    }
    for (const task of application.tasks) {
      await task.commit({ changelog: true })
      live[`${task.processor.name}/${task.partition}`] = task.digest.rows.toHex()
      const { topic } = application.journal(task.processor.name)
      until.positions.push({ topic, partition: task.partition, offset: task.committedOffset - 1 })
    }
    const digests = async (source: SourceFlags, flags: readonly string[] = []): Promise<unknown> => {
      const audit = await openAudit(source, flags, {})
      try {
        const replayed = await replayJournals(audit, { until })
        return Object.fromEntries(replayed.map((one) => [`${one.domain}/${one.partition}`, one.digest]))
      } finally {
        await audit.close()
      }
    }
    t.same(await digests({ url, token: 'secret' }), live)
    await t.rejects(digests({ url }), { code: 'AUDIT_ACCESS_DENIED' })
    await t.rejects(digests({}, ['--data-dir', dataDir]), { code: 'AUDIT_SOURCE_IN_USE' })
    await system.stop()
    t.same(await digests({}, ['--data-dir', dataDir]), live)
    await t.rejects(digests({ url }), { code: 'AUDIT_SOURCE_UNREADABLE' })
    await t.rejects(digests({}, ['--data-dir', temporaryFolder(t)]), { code: 'AUDIT_SOURCE_UNREADABLE' })
    await system.start()
    t.equal(await system.level('dev-1'), 'NONE')
  },
)

t.test('with auditArchive questions over HTTP begin at its snapshots, and answer as without', async (t) => {
  const auditArchive = temporaryFolder(t)
  const system = await startSystem(t, { partitions: 1, auditArchive })
  const { url } = system.pulsefold()
  const archive = async (): Promise<void> => {
    const audit = await openAudit({ url }, [], {})
    await writeArchive(audit, { directory: auditArchive }).finally(() => audit.close())
  }
  await system.register(PLUGIN, ['dev-1'])
  for (const path of ['state', 'explain']) {
    const refused = await fetch(`${url}/audit/${path}?key=dev-1`)
    t.equal(refused.status, 503)
    t.match(await refused.json(), {
      code: 'AUDIT_ARCHIVE_UNUSABLE',
      message: /^auditArchive: there is no archive in .*Name a directory that `archive` has made\.$/,
    })
  }
  await archive()
  await system.append([heartbeat('dev-1', 'NONE')])
  await system.levelIs('dev-1', 'NONE')
  await archive()
  const state = { trustLevel: 'NONE' }
  const asked = await system.json<StateAt>('/audit/state?key=dev-1')
  const [answered] = asked.weAnswered.filter(({ domain }) => domain === 'trust-level')
  t.match(answered, { result: { state } })
  t.same([answered?.gaps, answered?.unreadable], [[], []])
  t.ok(answered && answered.folded.from > 0, 'from a snapshot on')
  const [told] = await system.json<Explanation[]>('/audit/explain?key=dev-1')
  t.match(told, { state, steps: [{ what: 'CmHandlesRegistered' }, { what: 'HeartbeatReported' }] })
})

t.test('verify of a stopped Pulsefold: its stores, changelogs and seals are what its journals give', async (t) => {
  const dataDir = temporaryFolder(t)
  const system = await startSystem(t, { dataDir, partitions: 2 })
  await system.register(PLUGIN, ['dev-1', 'dev-2'])
  await system.append([heartbeat('dev-1', 'NONE')])
  await system.levelIs('dev-1', 'NONE')
  await system.stop()
  const verified = async (): Promise<readonly Verification[]> => {
    const audit = await openAudit({}, ['--data-dir', dataDir], {})
    try {
      return await verify(audit, { openTaskStore: (name) => openTaskStoreReader(dataDir, name) })
    } finally {
      await audit.close()
    }
  }
  const sound = await verified()
  t.ok(sound.length >= 2)
  for (const { verdict, kept } of sound) {
    t.same([verdict, ...kept.map(({ name }) => name)], ['equal', 'changelog', 'store'])
  }
  const stores = rocksDbProvider({ directory: join(dataDir, 'stores') })
  const store = await stores.open('trust-level-0')
  const rows: Entry[] = []
  for await (const page of store.entries({ gte: Buffer.from('\u0014'), lt: Buffer.from('\u0017') })) rows.push(...page)
  const [row] = rows
  await store.write([{ key: row![0], value: null }])
  await store.close()
  const [forged] = await verified()
  t.match(forged, { verdict: 'different', seals: { firstDifference: null } })
  t.match(forged?.kept.find(({ name }) => name === 'store')?.differences, [
    { key: row![0].toString('utf8', 1), a: undefined },
  ])
})

t.test('a change of settings is in the journal: explain tells who made it, why, from what to what', async (t) => {
  const dataDir = temporaryFolder(t)
  const first = await startSystem(t, { dataDir, settingsActor: 'alice' })
  await first.register(PLUGIN, ['dev-1'])
  await first.stop()
  const changed = { settingsActor: 'bob', settingsReason: 'ticket 12', onDmiRestart: 'keep' as const }
  const second = await startSystem(t, { dataDir, ...changed })
  const [told] = await second.json<Explanation[]>('/audit/explain?key=dev-1')
  t.match(
    told?.terms.map(({ settingsChange }) => settingsChange),
    [
      { actor: 'alice', reason: null },
      { actor: 'bob', reason: 'ticket 12', changed: { onDmiRestart: { before: 'complete', after: 'keep' } } },
    ],
  )
  t.same(told?.terms[0]?.settingsChange?.changed, {}, 'the first change nothing')
  await second.stop()
  // A directory that is named wins over brokers that the environment names.
  const env = { PATH: process.env['PATH'], PULSEFOLD_KAFKA_BROKERS: '127.0.0.1:1' }
  const run = spawnSync(process.execPath, [cli, 'explain', 'dev-1', '--data-dir', dataDir], { encoding: 'utf8', env })
  t.match(run.stdout, /by bob: ticket 12; onDmiRestart complete → keep\n/, run.stderr)
})
