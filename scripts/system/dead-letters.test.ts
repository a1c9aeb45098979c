import t from 'tap'
import type { Test } from 'tap'
import { realBrokers } from '../../topology/log/kafka/real-brokers.js'
import { commandLine } from './command-line.js'
import { heartbeat, onKafka, PLUGIN, startSystem } from './fixtures.js'
import type { System } from './fixtures.js'
import { until } from './until.js'

async function deadLettersAreSentAgain(t: Test, system: System): Promise<void> {
  const run = (...args: readonly string[]): Promise<string> =>
    commandLine('dead-letters', ...args, '--url', system.pulsefold().url)
  await system.append([heartbeat('dev-1', 'NONE'), heartbeat('dev-2', 'NONE', { value: '{"data":{' })])
  const large = `{"data":"${'x'.repeat(900_000)}"}`
  await system.append([heartbeat('dev-3', 'NONE', { value: large })])
  await until('dev-1 is given up, as nobody registers it', async () => (await system.deadLetters()).length === 3)
  const lines = (await run('list')).split('\n')
  const lineOf = (code: string): string => lines.find((line) => line.includes(code)) ?? ''
  const placeOf = (code: string): string => /(\d+\/\d+) {2}/.exec(lineOf(code))?.[1] ?? ''
  t.match(lineOf('UNREGISTERED_CM_HANDLE'), `${system.settings.heartbeatTopic}/0/0  UNREGISTERED_CM_HANDLE: `)
  t.match(lineOf('MALFORMED_JSON'), `${system.settings.heartbeatTopic}/0/1  MALFORMED_JSON: `)
  t.equal((await run('list', '--limit', '1')).trim().split('\n').length, 1)

  const shown = await run('show', placeOf('UNREGISTERED_CM_HANDLE'))
  const letter = JSON.parse(shown.slice(2)) as { original: object }
  t.match(letter, { code: 'UNREGISTERED_CM_HANDLE', isWhole: true, source: { partition: 0, offset: 0 } })
  t.match(letter.original, { key: 'dev-1', value: { data: { trustLevel: 'NONE' } }, headers: { ce_id: 'dev-1' } })
  t.notMatch(shown, '__streams')

  await system.register(PLUGIN, ['dev-1', 'dev-2'])
  const act = ['--actor=op-7', '--reason=registered now –\nby Łukasz'] as const
  const resent = await run('resend', placeOf('UNREGISTERED_CM_HANDLE'), ...act)
  t.match(resent, `0 it is in the journal, at ${system.settings.applicationId}-trust-level-journal/`)
  t.ok(await system.levelIs('dev-1', 'NONE'))
  const [topic, partition, offset] = resent.trim().split(' ').at(-1)!.split('/')
  const record = await system.ask(`/ops/topics/${topic}/records?partition=${partition}&offset=${offset}&limit=1`)
  t.match(record.text, /"actor":"op-7".*"reason":"registered now – by Łukasz"/)

  t.match(await run('resend', placeOf('MALFORMED_JSON'), ...act), /^70 .*refused again: MALFORMED_JSON/)
  t.match(
    await run('resend', placeOf('NOT_AN_OBJECT') || placeOf('MISSING_TRUST_LEVEL'), ...act),
    /^70 .*only the beginning/,
  )
  t.match(await run('resend', '0/999', ...act), /^70 .*answered 4\d\d/)
  t.match(await run('resend', 'x', ...act), /Not a place/)
  t.match(await run('resend', '0/0'), /required option '--reason/)
}

t.test('dead letters are listed, shown and sent again', async (t) => {
  await deadLettersAreSentAgain(t, await startSystem(t, { pendingLevelMs: 100 }))
})

const brokers = realBrokers(t)
if (brokers.length > 0) {
  t.test('the same on Kafka', async (t) => {
    await deadLettersAreSentAgain(t, await startSystem(t, { pendingLevelMs: 100, ...(await onKafka(t, brokers)) }))
  })
}
