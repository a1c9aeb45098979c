import { spawnSync } from 'node:child_process'
import { accessSync, constants, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import type { Test } from 'tap'

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')
const prepare = readFileSync(join(root, 'scripts/prepare.sh'), 'utf8')
const bash = (command: string, options: { cwd?: string; PATH?: string } = {}) => {
  const env = { ...process.env, PATH: options.PATH ?? process.env.PATH }
  const result = spawnSync('/bin/bash', ['-c', `set -euo pipefail\n${command}`], {
    cwd: options.cwd ?? root,
    env,
    encoding: 'utf8',
  })
  return { status: result.status, out: result.stdout, err: result.stderr }
}

for (const script of ['scripts/start', 'scripts/test', 'scripts/pulsefold', 'scripts/bench', '.ci/run']) {
  t.test(`${script} is executable and bash can parse it`, async (t) => {
    accessSync(join(root, script), constants.X_OK)
    t.match(bash(`bash -n ${script}`), { status: 0, err: '' })
  })
}

const versions = [
  { have: '20.19.0', wanted: '20.19', enough: true },
  { have: '20.9.0', wanted: '20.19', enough: false },
  { have: '22.1.0', wanted: '20.19', enough: true },
  { have: '18.20.4', wanted: '20.19', enough: false },
  { have: '100.0.0', wanted: '20.19', enough: true },
  { have: '20.0.0', wanted: '20', enough: true },
]
for (const { have, wanted, enough } of versions) {
  t.test(`Node ${have} is ${enough ? '' : 'not '}enough where ${wanted} is wanted`, async (t) => {
    t.equal(bash(`source scripts/prepare.sh; is_at_least ${have} ${wanted}`).status, enough ? 0 : 1)
  })
}

/** A project with nothing but what prepare.sh looks at; `npm` and `node` are doubles that say how they were called. */
function project(t: Test, node: string, files: Record<string, string> = {}) {
  const folder = t.testdir({
    'package.json': '{\n  "engines": {\n    "node": ">=20.19"\n  }\n}\n',
    'package-lock.json': '{"lock":1}',
    'tsconfig.json': '{}',
    scripts: { 'prepare.sh': prepare },
    bin: {},
    ...files,
  })
  for (const name of ['common', 'schemas', 'state-stores', 'topology', 'processors', 'api'])
    mkdirSync(join(folder, name))
  bash(
    `printf '#!/bin/sh\\n%s\\n' '${node}' > bin/node; printf '#!/bin/sh\\necho npm "$@"; mkdir -p node_modules\\n' > bin/npm`,
    {
      cwd: folder,
    },
  )
  bash('chmod +x bin/node bin/npm', { cwd: folder })
  return (command: string) =>
    bash(`source scripts/prepare.sh; ${command}`, { cwd: folder, PATH: `${folder}/bin:/usr/bin:/bin` })
}

t.test('an old Node is refused by name', async (t) => {
  const run = project(t, 'echo v18.20.4')
  const { status, err } = run('check_node')
  t.equal(status, 69)
  t.match(err, /Node 20\.19 or newer is needed, this is 18\.20\.4/)
})

t.test('a missing Node is said to be missing', async (t) => {
  const folder = t.testdir({})
  const { status, err } = bash(
    `source ${root}/scripts/prepare.sh; PATH=${folder}; sed() { /usr/bin/sed "$@"; }; check_node`,
  )
  t.equal(status, 69)
  t.match(err, /there is no `node` on the PATH/)
})

t.test('packages are installed once for each lock file', async (t) => {
  const run = project(t, 'echo v20.19.0')
  t.match(run('install_packages').err, /npm ci/)
  t.equal(run('install_packages').err, '')
  t.match(run(`echo '{"lock":2}' > package-lock.json; install_packages`).err, /npm ci/)
})

t.test('it is built only when a source is newer, and what lost its source goes', async (t) => {
  const run = project(t, 'echo compiled "$@"')
  t.match(run('build').err, /compiled .*tsc -p \./)
  t.equal(run('build').err, '')
  t.equal(run('cd /; build; pwd').out, '/\n')
  const added = run(
    'mkdir -p dist/common; touch -d "1 minute" common/a.ts dist/common/a.js dist/common/b.js; build; ls dist/common',
  )
  t.match(added.err, /compiled/)
  t.equal(added.out, 'a.js\n')
})

t.test('a build that fails is tried again', async (t) => {
  const run = project(t, 'echo error TS1; exit 1')
  t.equal(run('build || exit 3').status, 3)
  t.match(run('build || exit 3'), { status: 3, err: /error TS1/ })
})

t.test('of two that prepare at once one does, and the other waits; one that was killed holds up nobody', async (t) => {
  const run = project(t, 'echo compiled; sleep 1')
  const { status, err } = run('prepare() { install_packages; build; }; prepare & other=$!; prepare; wait $other')
  t.equal(status, 0)
  t.equal(err.match(/npm ci/g)?.length, 1)
  t.equal(err.match(/compiled/g)?.length, 1)
  t.match(err, /waiting for another script that prepares/)
  const after = run('touch -d "1 minute" common/a.ts; ln -s 999999999 .preparing; build; ls -A dist')
  t.match(after, { status: 0, err: /compiled/, out: /^\.built\n$/ })
})
