import t from 'tap'
import type { Test } from 'tap'
import type { Settings } from '../../common/settings.js'
import { flagOf } from '../../common/settings-names.js'
import type { SettingName } from '../../common/settings-schema.js'
import { realBrokers } from '../../topology/log/kafka/real-brokers.js'
import { commandLine } from './command-line.js'
import { heartbeat, onKafka, PLUGIN, startSystem } from './fixtures.js'
import { until } from './until.js'

async function stateIsMadeAnew(t: Test, values: Partial<Settings>): Promise<void> {
  const isOnKafka = values.kafkaBrokers !== undefined
  const system = await startSystem(t, values)
  const run = (...args: readonly string[]): Promise<string> => {
    const { dataDir, applicationId, kafkaBrokers, partitions } = system.settings
    const given = { dataDir, applicationId, kafkaBrokers, partitions }
    const flags = Object.entries(given).map(([name, value]) => `${flagOf(name as SettingName)}=${String(value)}`)
    return commandLine('reset', ...args, ...flags)
  }
  await system.register(PLUGIN, ['dev-1', 'dev-2'])
  await system.append([heartbeat('dev-1', 'NONE')])
  t.ok(await system.levelIs('dev-1', 'NONE'))
  const refused = await run('--dry-run')
  t.match(refused, isOnKafka ? /^70 .*group .* has .*Stop all instances/ : /^69 .*Another process uses this/)
  await system.stop()

  const plan = await until('the group is empty', async () => {
    const output = await run('--dry-run')
    return output.startsWith('0') && output
  })
  t.match(plan, 'store trust-level-0: would be deleted')
  t.match(plan, /changelog .*-trust-level-changelog, [1-9]\d* records: would be deleted/)
  t.equal(plan.includes('positions of group'), isOnKafka)
  await system.start()
  t.equal((await system.metric('pulsefold_folded_entries_total', 'trust-level')) < 10, true, 'nothing was deleted yet')
  await system.stop()
  await until('the group is empty', async () => (await run('--dry-run')).startsWith('0'))
  t.match(
    await run(),
    /^0 store [^]*changelog .* records: deleted\n[^]*the next start folds [1-9]\d* journal records\n$/,
  )
  await system.start()
  t.equal(await system.level('dev-1'), 'NONE')
  t.equal(await system.level('dev-2'), 'COMPLETE')
  t.ok((await system.metric('pulsefold_folded_entries_total', 'trust-level')) > 0, 'it was folded again')
  t.equal(await system.metric('pulsefold_fold_events_total', 'counter="heartbeats"'), 1, 'each event once')
}

t.test('after a reset the state is made anew from the journals', async (t) => stateIsMadeAnew(t, {}))

const brokers = realBrokers(t)
if (brokers.length > 0) {
  t.test('the same on Kafka', async (t) => stateIsMadeAnew(t, await onKafka(t, brokers)))
}
