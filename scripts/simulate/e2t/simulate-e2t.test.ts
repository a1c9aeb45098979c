import t from 'tap'
import { freePort } from '../../free-port.js'
import { systemClock } from '../../../common/clock.js'
import { spawnPulsefold } from '../../system/real-process.js'
import { isAsExpected, reportLines } from './report.js'
import { simulateE2t } from './simulate-e2t.js'
import type { E2tOptions } from './simulate-e2t.js'

const options: Omit<E2tOptions, 'url' | 'routingManagerPort' | 'kubernetesPort'> = {
  ric: 'AACCE',
  instances: 6,
  ransPerInstance: 5,
  deaths: 1,
  stalls: 1,
  restarts: 1,
  routingManagerFails: true,
  kubernetesFails: true,
  // Longer than the service's own: a busy machine must not make it fail.
  timeoutMs: 3000,
  delayMs: 1000,
  seed: 7,
}

const kubeconfig = (port: number): string =>
  JSON.stringify({
    clusters: [{ name: 'played', cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'user', user: {} }],
    contexts: [{ name: 'here', context: { cluster: 'played', user: 'user' } }],
    'current-context': 'here',
  })

t.test('HS-17 what becomes of E2T instances and pods, also while Routing Manager and Kubernetes fail', async (t) => {
  const [routingManagerPort, kubernetesPort] = [await freePort(), await freePort()]
  const folder = t.testdir({ kubeconfig: kubeconfig(kubernetesPort) })
  const service = spawnPulsefold(t, folder, {
    environment: { KUBECONFIG: `${folder}/kubeconfig` },
    values: {
      routingManagerUrl: `http://127.0.0.1:${routingManagerPort}/ric/v1/handles/`,
      kubernetesNamespace: 'ricplt',
      keepAliveDelayMs: 1000,
      keepAliveResponseTimeoutMs: 3000,
    },
  })
  const url = await service.ready
  const given = { ...options, url, routingManagerPort, kubernetesPort }
  const report = await simulateE2t(given, { clock: systemClock, signal: new AbortController().signal })
  t.ok(isAsExpected(report), reportLines(report).join('\n'))
  t.equal(report.killedAfterMs.length, 1)
  t.ok(report.calls.some(([call]) => call === 'DELETE e2t'))
  const pods = report.findings.find(({ what }) => what === 'deleted pods')
  t.match(pods, { actual: /^e2term-aacce-\d$/ }, 'the one of the dead instance, once')
})

t.test('the report names what differs', async (t) => {
  const report = {
    options: { ...options, url: 'u', routingManagerPort: 1, kubernetesPort: 2 },
    findings: [
      { what: 'a', expected: '1', actual: '1' },
      { what: 'b', expected: '1', actual: '2' },
    ],
    killedAfterMs: [],
    inits: 3,
    calls: [],
  }
  t.notOk(isAsExpected(report))
  t.strictSame(reportLines(report).slice(-2), ['  ok  a: 1', '  NOT b: expected 1, is 2'])
})
