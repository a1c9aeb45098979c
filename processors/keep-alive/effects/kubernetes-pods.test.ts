import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { silentLogger } from '../../../common/logger.js'
import type { EffectRequest } from '../../../topology/processor.js'
import { kubernetesPods } from './kubernetes-pods.js'
import type { Pods } from './pods.js'
import { podEffectors } from './pods.js'

interface Kubernetes {
  readonly pods: Pods
  readonly got: string[]
  /** Pods by name with their uids; `status` answers in their place. */
  readonly uids: Map<string, string>
  status: number
}

/** The part of Kubernetes' API that is used, over HTTP. */
async function kubernetes(t: { teardown(close: () => void): void }): Promise<Kubernetes> {
  const state = { got: [] as string[], uids: new Map([['e2t-0', 'uid-1']]), status: 0 }
  const server = createServer((incoming, answer) => {
    let body = ''
    incoming.setEncoding('utf8').on('data', (part: string) => (body += part))
    incoming.on('end', () => {
      state.got.push(`${incoming.method} ${incoming.url} ${body}`.trim())
      const name = incoming.url?.split('/').at(-1) ?? ''
      const uid = state.uids.get(name)
      const wanted = body === '' ? uid : (JSON.parse(body) as { preconditions: { uid: string } }).preconditions.uid
      const status = state.status || (uid === undefined ? 404 : wanted === uid ? 200 : 409)
      if (status < 0) return
      if (incoming.method === 'DELETE' && status === 200) state.uids.delete(name)
      const pod = { kind: 'Pod', apiVersion: 'v1', metadata: { name, uid } }
      answer.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(pod))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const pods = kubernetesPods((config) =>
    config.loadFromClusterAndUser({ name: 'test', server: url, skipTLSVerify: true }, { name: 'test' }),
  )
  return Object.assign(state, { pods })
}

const never = new AbortController().signal

t.test('a pod is found by its name, and deleted by its uid', async (t) => {
  const { pods, got } = await kubernetes(t)
  t.equal(await pods.find('ricplt', 'e2t-0', never), 'uid-1')
  t.equal(await pods.find('ricplt', 'e2t-9', never), undefined)
  t.equal(await pods.delete('ricplt', 'e2t-0', 'uid-0', never), 'another pod', 'one made anew stays')
  t.equal(await pods.delete('ricplt', 'e2t-0', 'uid-1', never), 'deleted')
  t.equal(await pods.delete('ricplt', 'e2t-0', 'uid-1', never), 'not there')
  t.strictSame(got[3], 'DELETE /api/v1/namespaces/ricplt/pods/e2t-0 {"preconditions":{"uid":"uid-1"}}')
})

t.test('what Kubernetes cannot say rejects, without its whole answer', async (t) => {
  const kube = await kubernetes(t)
  kube.status = 403
  await t.rejects(kube.pods.find('ricplt', 'e2t-0', never), {
    message: 'looking up pod e2t-0: Kubernetes answered 403',
  })
  await t.rejects(kube.pods.delete('ricplt', 'e2t-0', 'u', never), {
    message: 'deleting pod e2t-0: Kubernetes answered 403',
  })
  kube.status = -1
  const attempt = new AbortController()
  const hung = kube.pods.find('ricplt', 'e2t-0', attempt.signal)
  hung.catch(() => undefined)
  while (kube.got.length < 3) await new Promise((resolve) => setImmediate(resolve))
  attempt.abort()
  await t.rejects(hung, { message: /Kubernetes gave no answer/ })
})

t.test('results are events, and each end of a pod is logged', async (t) => {
  const { pods, uids, got } = await kubernetes(t)
  const lines: string[] = []
  const line =
    (level: string) =>
    (_fields: unknown, text: string): void =>
      void lines.push(`${level} ${text}`)
  const logger = Object.assign(silentLogger(), { info: line('info'), warn: line('warn') })
  const [lookup, deletion] = podEffectors({ pods, logger })
  const request = (podName: string, uid = ''): EffectRequest => {
    return { id: 'e1', kind: '', target: '', payload: { ric: 'R', address: 'a', namespace: 'ricplt', podName, uid } }
  }
  const found = async (podName: string): Promise<unknown> => lookup?.perform(request(podName), never)
  const event = { ric: 'R', address: 'a', effectId: 'e1' }
  t.strictSame(await found('e2t-0'), { type: 'PodFound', data: { ...event, uid: 'uid-1' } })
  t.strictSame(lines, [])
  t.match(await found('e2t-9'), { data: { uid: '' } })
  const asked = got.length
  t.match(await found(''), { data: { uid: '' } })
  t.equal(got.length, asked, 'without a name nothing is asked')
  const deleted = async (): Promise<unknown> => deletion?.perform(request('e2t-0', 'uid-1'), never)
  uids.set('e2t-0', 'uid-2')
  t.strictSame(await deleted(), { type: 'PodDeleted', data: { ...event, outcome: 'another pod' } })
  uids.set('e2t-0', 'uid-1')
  t.match(await deleted(), { data: { outcome: 'deleted' } })
  t.match(await deleted(), { data: { outcome: 'not there' } })
  t.strictSame(lines, [
    'warn pod is not deleted: there is none of that name',
    'warn pod is not deleted: the init of the instance named none',
    'warn pod is not deleted: another one has its name by now',
    'info pod is deleted',
    'warn pod is not deleted: it has gone',
  ])
})
