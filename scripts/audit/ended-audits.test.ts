import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { goldenDirectory } from '../golden/golden-journals.js'
import { projectDirectory } from '../project-directory.js'

const cli = join(projectDirectory, 'dist/scripts/cli.js')

t.test(
  'who leaves in the middle of the output gets the exit status all the same, and nothing is left behind',
  async (t) => {
    const scratch = t.testdir()
    const args = ['diff', '0', 'end', '--json', '--archive', goldenDirectory('trust-level')]
    const run = spawn(process.execPath, [cli, ...args], { env: { PATH: process.env.PATH, TMPDIR: scratch } })
    run.stdout.destroy()
    t.same(await once(run, 'exit'), [1, null])
    t.same(readdirSync(scratch), [])
  },
)

for (const [signal, status] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  for (const command of ['replay', 'verify', 'archive']) {
    t.test(`${signal} ends ${command} of a source that does not answer, and nothing is left behind`, async (t) => {
      const topic = { name: 'pulsefold-trust-level-journal', partitions: 1, incarnation: 'one' }
      const answers: Record<string, unknown> = {
        '/audit': { applicationId: 'pulsefold' },
        '/audit/copies': { others: [], copies: [], unread: [] },
        '/audit/topics/pulsefold-trust-level-journal': { topic },
        '/audit/topics/pulsefold-trust-level-journal/0': { start: 0, end: 10 },
      }
      const server = createServer(({ url = '' }, response) => {
        if (url.startsWith('/ops/topics')) server.emit('asked for records')
        else response.end(JSON.stringify(answers[url] ?? { topic: null }))
      })
      t.teardown(() => {
        server.closeAllConnections()
        server.close()
      })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      const scratch = t.testdir({ tmp: {} })
      const { port } = server.address() as AddressInfo
      const args = [
        command,
        ...(command === 'archive' ? [join(scratch, 'archive')] : []),
        '--url',
        `http://127.0.0.1:${port}`,
      ]
      const asked = once(server, 'asked for records')
      const env = { PATH: process.env.PATH, TMPDIR: join(scratch, 'tmp') }
      const run = spawn(process.execPath, [cli, ...args], { env })
      await asked
      run.kill(signal)
      t.same(await once(run, 'exit'), [status, null])
      t.same(readdirSync(join(scratch, 'tmp')), [])
      t.same(
        readdirSync(scratch).filter((name) => name.endsWith('.lock')),
        [],
      )
    })
  }
}
