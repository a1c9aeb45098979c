import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'

const run = promisify(execFile)

async function pulsefold(...args: string[]) {
  const command = [join(import.meta.dirname, 'cli.js'), ...args]
  try {
    const { stdout, stderr } = await run(process.execPath, command, { env: { PATH: process.env.PATH } })
    return { code: 0, stdout, stderr }
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string }
  }
}

const cases = [
  { args: ['--help'], code: 0, stdout: /Commands:\n(.|\n)* start (.|\n)* simulate (.|\n)*Exit codes:/ },
  { args: ['settings', '--http-port', '7'], code: 0, stdout: /^httpPort +7 {2}\(flag\)$/m },
  { args: ['settings', '--help'], code: 0, stdout: /--dmi-health-interval-ms/ },
  { args: ['settings', '--http-prot', '7'], code: 78, stderr: /--http-prot.*did you mean --http-port\?/ },
  { args: ['start', '--help'], code: 0, stdout: /--dmi-health-interval-ms/ },
  { args: ['start', '--http-port', 'x'], code: 78, stdout: /^Pulsefold cannot start: the settings are wrong:\n/ },
  { args: ['topology'], code: 0, stdout: /^Topologies:\n {3}Sub-topology: 0\n/ },
  { args: ['topology', '--format=json', '--application-id', 'x'], code: 0, stdout: /"x-trust-level-journal"/ },
  { args: ['topology', '--application-id', 'x', '--format', 'mermaid'], code: 0, stdout: /^flowchart LR\n/ },
  { args: ['topology', '--format=svg'], code: 64, stderr: /text, json, mermaid/ },
  { args: ['errors'], code: 0, stdout: /^ {2}STORE_IN_USE\n {6}\S/m },
  { args: ['schemas', 'check'], code: 78, stderr: /schemaRegistryUrl is "", expected: the address of a registry/ },
  { args: ['simulat'], code: 64, stderr: /Did you mean simulate\?/ },
  { args: [], code: 64, stderr: /Usage: pulsefold/ },
]
for (const { args, ...expected } of cases) {
  t.test(`pulsefold ${args.join(' ')}`, async (t) => {
    t.match(await pulsefold(...args), expected)
  })
}

t.test('a command that asks a Pulsefold for what it runs without says what it is for', async (t) => {
  const server = createServer((_request, response) => {
    response.writeHead(404).end('{"status":404,"code":"ROUTE_NOT_FOUND","message":"there is no such path"}')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  t.match(await pulsefold('site', 'status', '--url', `http://127.0.0.1:${port}`), {
    code: 70,
    stderr: /GET \/site answered 404: .*`site` is for two sites \(`sitePeerUrl`\)/,
  })
})
