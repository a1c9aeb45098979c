import { spawnSync } from 'node:child_process'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { goldenDirectory } from '../golden/golden-journals.js'
import { projectDirectory } from '../project-directory.js'

function pulsefold(...args: readonly string[]): {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
} {
  const main = join(projectDirectory, 'dist/scripts/cli.js')
  return spawnSync(process.execPath, [main, ...args], { encoding: 'utf8', env: { PATH: process.env.PATH } })
}

const archive = ['--archive', goldenDirectory('trust-level')]
const cases: readonly { readonly args: readonly string[]; readonly status: number; readonly says: RegExp }[] = [
  { args: ['replay', '--data-dir', '/nowhere'], status: 69, says: /there is no log in "\/nowhere"/ },
  { args: ['explain', 'x', '--at', 'yesterday'], status: 64, says: /"yesterday" is no time/ },
  { args: ['state', ...archive], status: 64, says: /name a key, or --query, or --all/ },
  {
    args: ['explain', 'dev-1', ...archive],
    status: 0,
    says: /because the effective level changes: .*\n +trustLevel COMPLETE → NONE/,
  },
  { args: ['verify', ...archive], status: 0, says: /^trust-level\/0 {2}EQUAL {2}\d+ seals compared/m },
  {
    args: ['replay', ...archive],
    status: 0,
    says: /^trust-level\/1 {2}offset \d+ \(.*\) {2}\d+ entries {2}digest \w+$/m,
  },
  { args: ['replay', ...archive, '--history', '.'], status: 64, says: /cannot be used with option '--history/ },
  { args: ['archive', 'check', goldenDirectory('trust-level')], status: 0, says: /^sound: \d+ segments/ },
  { args: ['archive', 'check', '/nowhere'], status: 69, says: /nowhere.*Name a directory that `archive` has made/ },
  { args: ['explain', ...archive, '--', '--json'], status: 0, says: /^--json: nothing\n/ },
  {
    args: ['explain', 'dev-1', '--limit', '0', ...archive],
    status: 0,
    says: /older steps are left out.*\n\(.*\n\nsettings/,
  },
  { args: ['explain', 'dev-1', '--limit', 'x', ...archive], status: 64, says: /Not a whole number from 0/ },
  {
    args: ['archive', '/nowhere', '--from-time', '2', '--to-time', '1', ...archive],
    status: 64,
    says: /--from-time is later than --to-time/,
  },
]
for (const { args, status, says } of cases) {
  t.test(`pulsefold ${args.slice(0, 2).join(' ')} ends with ${status}`, async (t) => {
    const run = pulsefold(...args)
    t.equal(run.status, status, run.stderr)
    t.match(run.stdout + run.stderr, says)
  })
}

t.test(
  'what is printed moves no cursor: parts of keys have a slash between them, texts of others are escaped',
  async (t) => {
    const { stdout } = pulsefold('state', 'AACCE/gnb_0', '--archive', goldenDirectory('keep-alive'))
    t.match(stdout, /^ +rans\/AACCE\/gnb_0 /m)
    t.match(pulsefold('state', '--all', '--archive', goldenDirectory('keep-alive')).stdout, /^ {2}\{\n {4}"table": /m)
    const directory = t.testdir()
    cpSync(goldenDirectory('register'), directory, { recursive: true })
    writeFileSync(join(directory, 'a\n\u001b[2Jsound'), '')
    const check = pulsefold('archive', 'check', directory)
    t.match(check.stdout, /^FAULT a\\u000a\\u001b\[2Jsound is no part/m)
    for (const text of [stdout, check.stdout]) t.notMatch(text, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
  },
)

t.test('pulsefold archive --mask: no text of the field is in the archive, and it checks', async (t) => {
  const directory = join(t.testdir(), 'masked')
  const mask = ['--mask', 'HeartbeatReported.cmHandle,CmHandlesRegistered.created.cmHandle,*.plugin']
  t.equal(pulsefold('archive', directory, ...archive, ...mask).status, 0)
  const check = pulsefold('archive', 'check', directory)
  t.equal(check.status, 0)
  t.match(check.stdout, /^sound: .*\n.*\nmasked: HeartbeatReported\.cmHandle/)
  const rows = pulsefold('state', '--all', '--archive', directory)
  t.match(rows.stdout, /masked-[0-9a-f]{16}/)
  t.notMatch(rows.stdout, /dev-[123]/)
  t.match(pulsefold('verify', '--archive', directory), { status: 2, stdout: /NOT VERIFIED .*: fields are masked/ })
  const other = `${directory}-again`
  t.equal(pulsefold('archive', other, '--archive', directory, '--mask', '*.producer').status, 0)
  t.match(pulsefold('archive', 'check', other).stdout, /masked: HeartbeatReported\.cmHandle.*\*\.producer/)
  t.match(pulsefold('archive', other, ...archive, '--mask', 'HeartbeatReported.trustLevel'), { status: 64 }, 'no text')
  const typo = pulsefold('archive', other, ...archive, '--mask', 'HeartbeatReported.cmHandel')
  t.match(typo, {
    status: 64,
    stderr: /"HeartbeatReported.cmHandel" is no text .*; there are cmHandle, producer, eventType/,
  })
})
