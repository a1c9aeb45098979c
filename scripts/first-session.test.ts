import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { freePort } from './free-port.js'
import { projectDirectory } from './project-directory.js'

const skip = spawnSync('curl', ['--version']).error === undefined ? false : 'install curl, which the README uses'

/** The commands of the README's first session, in order. */
function commands(): string[] {
  const readme = readFileSync(join(projectDirectory, 'README.md'), 'utf8')
  const session = /^## First session$([\s\S]*?)^## /m.exec(readme)?.[1] ?? ''
  return [...session.matchAll(/^```\n([\s\S]*?)^```$/gm)].map((match) => match[1] ?? '')
}

t.test("the README's first session works when pasted", { skip }, async (t) => {
  const [pluginPort, dataDir] = [await freePort(), join(t.testdir({}), 'data')]
  const flags = [
    '--http-port=0',
    `--data-dir=${dataDir}`,
    '--dmi-health-interval-ms=600',
    '--dmi-health-deadline-ms=500',
  ]
  const service = spawn(process.execPath, [join(import.meta.dirname, 'start.js'), ...flags], {
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  t.teardown(() => service.kill('SIGKILL'))
  let printed = ''
  for await (const chunk of service.stdout.iterator({ destroyOnReturn: false })) {
    printed += String(chunk)
    if (printed.includes('\n')) break
  }
  const url = /^Pulsefold is ready at (\S+)/.exec(printed)?.[1]
  if (url === undefined) {
    t.fail(`it did not start: ${printed}`)
    return
  }

  const [plugin, register, heartbeat, read, ...others] = commands().map((text) =>
    text.replaceAll('http://127.0.0.1:8080', url).replaceAll('8081', String(pluginPort)),
  )
  t.same(others, [], 'all commands are tried here')
  const shell = spawn('bash', { stdio: ['pipe', 'pipe', 'ignore'] })
  t.teardown(() => shell.kill('SIGKILL'))
  /** Pastes lines, and waits for what they print. */
  const paste = async (lines: string): Promise<string> => {
    shell.stdin.write(`${lines}\necho; echo END\n`)
    let output = ''
    for await (const chunk of shell.stdout.iterator({ destroyOnReturn: false })) {
      output += String(chunk)
      if (output.endsWith('END\n')) break
    }
    return output
  }

  // The plugin is there once it answers.
  await paste(`${plugin}until curl -s 127.0.0.1:${pluginPort}; do :; done`)
  t.match(await paste(register!), /^HTTP\/1\.1 200 OK\r\n/)
  t.match(await paste(heartbeat!), /^HTTP\/1\.1 202 Accepted\r\n[\s\S]*\{"accepted":1,"positions":\[/)
  const answers = await paste(read!)
  t.match(answers, '"trustLevel":"NONE"')
  t.match(answers, '"trustEvidence":{"ownLevel":"NONE"')
  t.match(answers, '["ch-1"]')

  await paste('kill %1')
  const search = read!.slice(read!.lastIndexOf('curl'))
  let found = ''
  while (!found.includes('"ch-2"')) found = await paste(search)
  t.match(found, '"ch-1"')
  // A check that was on its way when the plugin went says "reset".
  t.match(await paste(`curl ${url}/ops/dmi-plugins`), /"reason":"connection (refused|reset)"/)

  const metrics = await paste(`curl ${url}/metrics; curl ${url}/nowhere; curl ${url}/metrics`)
  t.match(metrics, 'pulsefold_http_requests_total{method="POST",route="/events",status="202"} 1')
  t.match(metrics, 'pulsefold_http_requests_total{method="GET",route="none",status="404"} 1')
  t.match(metrics, 'pulsefold_http_request_duration_seconds_count{route="/events"} 1')

  service.kill('SIGTERM')
  t.equal((await once(service, 'exit'))[0], 0)
})
