import t from 'tap'
import { startPlugin, temporaryFolder } from './fixtures.js'
import type { Health } from './fixtures.js'
import { spawnPulsefold } from './real-process.js'
import { until } from './until.js'

t.test('SE-01 plugin addresses that point inward', async (t) => {
  const inward = await startPlugin(t)
  const redirect: Health = (_request, response) => void response.writeHead(302, { location: inward.address }).end()
  const redirecting = await startPlugin(t, redirect)
  const allowedUrlPattern = `http://127\\.0\\.0\\.1:${redirecting.port}|http://[a-z.]+(:\\d+)?`
  const running = spawnPulsefold(t, temporaryFolder(t), {
    values: {
      httpHost: '0.0.0.0',
      allowedUrlPattern,
      dmiHealthIntervalMs: 400,
      dmiHealthDeadlineMs: 200,
      logLevel: 'trace',
    },
  })
  const { port } = new URL(await running.ready)
  const addresses = [
    `http://127.0.0.1:${inward.port}`,
    `http://localhost:${port}/`,
    `http://127.0.0.1:${port}`,
    'file:///etc/passwd',
    'http://user:secret-word@host/',
    'http://host@evil/',
    `http://[::ffff:127.0.0.1]:${inward.port}`,
    `http://2130706433:${inward.port}`,
  ]
  for (const [i, dmiPlugin] of addresses.entries()) {
    const answer = await running.registration({ dmiPlugin, createdCmHandles: [{ cmHandle: `dev-${i}` }] })
    t.equal(answer.status, 400, dmiPlugin)
    t.notMatch(answer.text, 'secret-word')
    t.equal(await running.level(`dev-${i}`), 404)
  }
  await running.register(redirecting.address, ['redirected'])
  t.ok(await running.levelIs('redirected', 'NONE'), 'a redirect is down')
  await until('more checks', () => redirecting.asked.length >= 5)
  t.same(inward.asked, [], 'nothing ever came to the forbidden address')
  running.kill('SIGTERM')
  t.notMatch((await running.ended).log.join('\n'), 'secret-word')
})

t.test('SE-01 without an allow-list, a service that listens on all addresses refuses inward ones', async (t) => {
  const running = spawnPulsefold(t, temporaryFolder(t), { values: { httpHost: '0.0.0.0' } })
  await running.ready
  for (const dmiPlugin of [
    'http://169.254.169.254/',
    'http://localhost:9/',
    'http://[::1]/',
    'http://127.0.0.1:9',
    'http://0.0.0.0:9',
  ]) {
    const { status, text } = await running.registration({ dmiPlugin, createdCmHandles: [{ cmHandle: 'dev-1' }] })
    t.equal(status, 400, dmiPlugin)
    t.match(text, 'dmiPlugin')
  }
})
