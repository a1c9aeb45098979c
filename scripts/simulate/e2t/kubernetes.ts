import { httpDouble } from './http-double.js'
import type { HttpDouble } from './http-double.js'

/** Kubernetes' API as far as pods are looked up and deleted. */
export interface KubernetesDouble extends HttpDouble {
  /** Pods that are there, by name, with their uids. */
  readonly pods: Map<string, string>
  /** Names, once for each deletion. */
  readonly deleted: string[]
}

interface DeleteOptions {
  readonly preconditions?: { readonly uid?: string }
}

export async function kubernetesDouble(port: number): Promise<KubernetesDouble> {
  const pods = new Map<string, string>()
  const deleted: string[] = []
  const double = await httpDouble(port, ({ method, path, body }) => {
    const name = decodeURIComponent(/\/pods\/([^/?]+)/.exec(path)?.[1] ?? '')
    const uid = pods.get(name)
    if (uid === undefined) return { status: 404, body: { kind: 'Status', code: 404 } }
    if (method === 'DELETE') {
      const wanted = (body as DeleteOptions | undefined)?.preconditions?.uid
      if (wanted !== undefined && wanted !== uid) return { status: 409, body: { kind: 'Status', code: 409 } }
      deleted.push(name)
      // As a stateful set makes it anew.
      pods.set(name, `${uid}+`)
    }
    return { status: 200, body: { kind: 'Pod', apiVersion: 'v1', metadata: { name, uid } } }
  })
  return Object.assign(double, { pods, deleted })
}
