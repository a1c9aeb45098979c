import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { checkArchive } from '../../topology/archive/check-archive.js'
import { replayer, replayJournals } from '../../topology/audit/replay-journals.js'
import { verify } from '../../topology/audit/verify.js'
import { goldenAudit, goldenDigest, goldenDirectory, scenarios } from '../golden/golden-journals.js'
import { declaredProcessors } from '../process/declared-processors.js'
import { SITE_REGISTER } from '../../processors/site/index.js'
import { settingsWith } from '../../common/settings.js'
import { projectDirectory } from '../project-directory.js'

const changelog = readFileSync(join(projectDirectory, 'CHANGELOG.md'), 'utf8')
const how = 'after a change that is meant: node dist/scripts/golden.js DOMAIN, and tell the reason in the changelog'

t.test('each domain has a golden journal, and it is as it was recorded', async (t) => {
  t.same(
    scenarios.map(({ domain }) => domain).sort(),
    [...declaredProcessors(settingsWith({})).map(({ name }) => name), SITE_REGISTER].sort(),
  )
  for (const { domain } of scenarios) t.match(await checkArchive(goldenDirectory(domain)), { isSound: true }, domain)
})

for (const scenario of scenarios) {
  const { domain } = scenario
  t.test(`the golden journal of ${domain} folds to the state that it folded to when it was recorded`, async (t) => {
    for (const { seals, verdict } of await verify(await goldenAudit(scenario), {})) {
      t.match({ seals, verdict }, { verdict: 'equal', seals: { firstDifference: null, ofOtherVersions: 0 } }, how)
      t.ok(seals.compared > 0)
    }
  })

  t.test(`the changelog tells why the golden journal of ${domain} folds to what it does`, async (t) => {
    const digest = await goldenDigest(scenario)
    t.match(changelog, new RegExp(`^- \`${domain}\` \`${digest}\`: .{10}`, 'm'), how)
  })
}

t.test('time zone, locale and heap size of the process leave no mark on what golden journals fold to', async (t) => {
  const expected: string[] = []
  for (const scenario of scenarios) expected.push(`${scenario.domain} ${await goldenDigest(scenario)}`)
  const machines = [
    {
      env: { TZ: 'Pacific/Kiritimati', LC_ALL: 'tr_TR.UTF-8', LANG: 'tr_TR.UTF-8' },
      flags: ['--max-old-space-size=96'],
    },
    { env: { TZ: 'America/St_Johns', LC_ALL: 'C' }, flags: ['--max-old-space-size=2048', '--max-semi-space-size=64'] },
  ]
  for (const { env, flags } of machines) {
    const main = join(projectDirectory, 'dist/scripts/golden.js')
    const { stdout, stderr } = spawnSync(process.execPath, [...flags, main], {
      env: { ...process.env, ...env },
      encoding: 'utf8',
    })
    t.equal(stdout.trim(), expected.join('\n'), `${env.TZ} ${stderr}`)
  }
})

t.test(
  'golden journals of all domains, folded side by side and in any order of partitions, come to the same',
  async (t) => {
    const audits = await Promise.all(scenarios.map((scenario) => goldenAudit(scenario)))
    const expected = await Promise.all(audits.map((audit) => replayJournals(audit, { until: { kind: 'end' } })))
    const folds = audits.flatMap((audit, i) => (expected[i] ?? []).map((journal) => ({ audit, journal }))).reverse()
    // Each reads its own batches, so their segments take turns.
    const folded = await Promise.all(
      folds.map(async ({ audit, journal: { domain, topic, partition, offset: end } }) => {
        return (await replayer(audit)({ domain, journal: { topic, partition }, end }, () => undefined)).digest
      }),
    )
    t.same(
      folded,
      folds.map(({ journal }) => journal.digest),
    )
    t.equal(folds.length, 2 * scenarios.length)
  },
)
