import type { CoreV1Api, KubeConfig, Later, RequestContext, RequestOptions } from '@kubernetes/client-node'
import type { Pods } from './pods.js'

/**
 * Pods by the official client, configured as kubectl is (KUBECONFIG, ~/.kube/config), or by the service account in a cluster. It
 * is large, and loaded with the first call only.
 */
export function kubernetesPods(configure = (config: KubeConfig): void => config.loadFromDefault()): Pods {
  let client: Promise<CoreV1Api> | undefined
  const pods = async (): Promise<CoreV1Api> => {
    const { KubeConfig, CoreV1Api } = await import('@kubernetes/client-node')
    const config = new KubeConfig()
    configure(config)
    return config.makeApiClient(CoreV1Api)
  }
  // A configuration that is not there yet is looked for again.
  const connected = (): Promise<CoreV1Api> =>
    (client ??= pods().catch((thrown: unknown) => {
      client = undefined
      throw thrown
    }))
  return {
    async find(namespace, name, signal) {
      try {
        const { metadata } = await (await connected()).readNamespacedPod({ namespace, name }, ending(signal))
        return metadata?.uid
      } catch (thrown) {
        if (statusOf(thrown) === 404) return undefined
        throw inWords(thrown, `looking up pod ${name}`)
      }
    },
    async delete(namespace, name, uid, signal) {
      try {
        const body = { preconditions: { uid } }
        await (await connected()).deleteNamespacedPod({ namespace, name, body }, ending(signal))
        return 'deleted'
      } catch (thrown) {
        if (statusOf(thrown) === 404) return 'not there'
        if (statusOf(thrown) === 409) return 'another pod'
        throw inWords(thrown, `deleting pod ${name}`)
      }
    },
  }
}

function ending(signal: AbortSignal): RequestOptions {
  const later = <Value>(value: Value): Later<Value> => ({ toPromise: () => Promise.resolve(value) })
  const pre = (context: RequestContext): Later<RequestContext> => {
    context.setSignal(signal)
    return later(context)
  }
  return { middleware: [{ pre, post: later }], middlewareMergeStrategy: 'append' }
}

function statusOf(thrown: unknown): unknown {
  return thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
}

/** The client's own texts hold whole answers. */
function inWords(thrown: unknown, what: string): Error {
  const status = statusOf(thrown)
  const isTold = typeof status === 'number' || typeof status === 'string'
  return new Error(`${what}: Kubernetes ${isTold ? `answered ${status}` : 'gave no answer'}`, { cause: thrown })
}
