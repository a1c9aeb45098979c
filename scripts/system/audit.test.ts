import t from 'tap'
import { replayJournals } from '../../topology/audit/replay-journals.js'
import { openAudit } from '../audit/open-audit.js'
import type { SourceFlags } from '../audit/open-audit.js'
import { heartbeat, PLUGIN, startSystem, temporaryFolder } from './fixtures.js'

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
      const audit = await openAudit(source, flags)
      try {
        const replayed = await replayJournals(audit, { until })
        return Object.fromEntries(replayed.map((one) => [`${one.domain}/${one.partition}`, one.digest]))
      } finally {
        await audit.close()
      }
    }
    t.same(await digests({ url, token: 'secret' }), live)
    await t.rejects(digests({ url }), { code: 'AUDIT_ACCESS_DENIED' })
    await t.rejects(digests({}, ['--data-dir', dataDir]), { code: 'LOG_DIRECTORY_IN_USE' })
    await system.stop()
    t.same(await digests({}, ['--data-dir', dataDir]), live)
    await t.rejects(digests({ url }), { code: 'AUDIT_SOURCE_UNREADABLE' })
    await t.rejects(digests({}, ['--data-dir', temporaryFolder(t)]), { code: 'AUDIT_SOURCE_UNREADABLE' })
    await system.start()
    t.equal(await system.level('dev-1'), 'NONE')
  },
)
